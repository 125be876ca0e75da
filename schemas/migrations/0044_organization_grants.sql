-- What an organization may change of itself. Its plan is the operator's.
REVOKE UPDATE ON organizations FROM pharos_tenant;
--> statement-breakpoint
GRANT UPDATE (name, owner_email, owner_email_confirmed_at, code_hash, code_sent_at, code_tries, codes_day, codes, timezone, language, default_thresholds, retention_days, updated_at) ON organizations TO pharos_tenant;

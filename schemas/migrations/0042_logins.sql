-- What the owner of the tables alone reads, a row each: the key by which a connection proves whose rows it may see, and the one that the
-- logins' passwords follow from. Two random uuids are 244 random bits.
CREATE SCHEMA pharos_private;
--> statement-breakpoint
CREATE TABLE pharos_private.tenant_key AS SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') AS key;
--> statement-breakpoint
CREATE TABLE pharos_private.login_key AS SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') AS key;
--> statement-breakpoint
-- A tenant's login may change every setting of its session, also `pharos.organization`, so the setting counts only with a proof behind the id
-- that a statement cannot make: a hash with the key, keyed inside and outside. Whoever logs in as the owner reads everything anyway and needs none
-- (inside of this function the owner is the current user). It runs for each table of each statement: a search_path of its own would cost as much
-- as all the rest, so each name says its schema.
CREATE OR REPLACE FUNCTION pharos_organization() RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER AS $$
DECLARE
  given pg_catalog.text := pg_catalog.current_setting('pharos.organization');
  organization pg_catalog.uuid := pg_catalog."left"(given, 36)::pg_catalog.uuid;
  secret pg_catalog.bytea;
BEGIN
  SELECT key INTO secret FROM pharos_private.tenant_key;
  IF pg_catalog.substr(given, 38) OPERATOR(pg_catalog.=) pg_catalog.encode(pg_catalog.sha256(secret OPERATOR(pg_catalog.||) pg_catalog.sha256(secret OPERATOR(pg_catalog.||) pg_catalog.convert_to(organization::pg_catalog.text, 'UTF8'))), 'hex')
    OR session_user OPERATOR(pg_catalog.=) current_user THEN
    RETURN organization;
  END IF;
  RAISE EXCEPTION 'this connection is bound to no organization' USING ERRCODE = 'insufficient_privilege';
END $$;

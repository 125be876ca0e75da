-- One table for all that is counted by organization and day.
ALTER TABLE daily_asks RENAME TO day_counts;
--> statement-breakpoint
ALTER TABLE day_counts RENAME COLUMN source TO subject;
--> statement-breakpoint
ALTER TABLE day_counts RENAME COLUMN asks TO count;
--> statement-breakpoint
ALTER INDEX daily_asks_day RENAME TO day_counts_day;
--> statement-breakpoint
ALTER TABLE day_counts RENAME CONSTRAINT daily_asks_organization_id_day_source_pk TO day_counts_organization_id_day_subject_pk;
--> statement-breakpoint
ALTER TABLE day_counts RENAME CONSTRAINT daily_asks_organization_id_organizations_id_fk TO day_counts_organization_id_organizations_id_fk;
--> statement-breakpoint
UPDATE day_counts SET subject = 'confirmations' WHERE subject = '*';

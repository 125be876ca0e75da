ALTER TABLE "status_pages" ADD COLUMN "preview_link_secret" "bytea" DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') NOT NULL;--> statement-breakpoint
-- Links to drafts that were given go on working: they were signed with this one.
UPDATE "status_pages" SET "preview_link_secret" = "access_link_secret";

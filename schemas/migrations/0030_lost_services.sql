ALTER TABLE "incidents" ADD COLUMN "lost_services" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "maintenance_windows" ADD COLUMN "lost_services" boolean DEFAULT false NOT NULL;
CREATE TABLE "password_tries" (
	"status_page_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"client" text NOT NULL,
	"wrong" integer NOT NULL,
	"last_wrong_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "password_tries_status_page_id_client_pk" PRIMARY KEY("status_page_id","client")
);
--> statement-breakpoint
ALTER TABLE "password_tries" ADD CONSTRAINT "password_tries_status_page_id_status_pages_id_fk" FOREIGN KEY ("status_page_id") REFERENCES "public"."status_pages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "password_tries_page" ON "password_tries" USING btree ("status_page_id","last_wrong_at");--> statement-breakpoint
CREATE INDEX "password_tries_old" ON "password_tries" USING btree ("last_wrong_at");--> statement-breakpoint
ALTER TABLE password_tries ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON password_tries TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));

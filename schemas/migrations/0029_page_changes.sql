-- Control planes keep pages as they last drew them. What changes a page is announced with its organization, so that they draw it
-- anew. Incidents and statuses of services change by the thousand and are events: their fan-out announces them, a batch at a time.
CREATE FUNCTION pharos_announce_page_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    PERFORM pg_notify('pharos_pages', OLD.organization_id::text);
  ELSE
    PERFORM pg_notify('pharos_pages', NEW.organization_id::text);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER INSERT OR UPDATE OR DELETE ON status_pages FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER INSERT OR UPDATE OR DELETE ON status_page_services FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER INSERT OR UPDATE OR DELETE ON design_versions FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER DELETE OR UPDATE OF name, description ON services FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER INSERT OR UPDATE OR DELETE ON maintenance_windows FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER INSERT ON maintenance_updates FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER INSERT OR DELETE ON maintenance_window_services FOR EACH ROW EXECUTE FUNCTION pharos_announce_page_change();
--> statement-breakpoint
-- Its pages tell times in its time zone.
CREATE FUNCTION pharos_announce_organization_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pharos_pages', NEW.id::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER announce_page_change AFTER UPDATE OF timezone ON organizations FOR EACH ROW EXECUTE FUNCTION pharos_announce_organization_change();

-- Edges cache keys and monitors. Each change is stamped (edges re-read the last minute's every 2 s)
-- and announced (so that it usually takes effect at once). The clock is read when the row is written,
-- not when the transaction began; Pharos' transactions are bounded to 30 s, half of the minute.
CREATE FUNCTION pharos_stamp_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_at := clock_timestamp();
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE FUNCTION pharos_announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pharos_changes', TG_TABLE_NAME);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- The lazily written last_used_at is no change that an edge decides by.
CREATE TRIGGER stamp_change BEFORE INSERT OR UPDATE OF revoked_at, expires_at, scopes ON api_keys FOR EACH ROW EXECUTE FUNCTION pharos_stamp_change();
--> statement-breakpoint
CREATE TRIGGER stamp_change BEFORE INSERT OR UPDATE ON beacon_keys FOR EACH ROW EXECUTE FUNCTION pharos_stamp_change();
--> statement-breakpoint
-- Pings update monitors all the time; edges only need to hear of what they decide by.
CREATE TRIGGER stamp_change_insert BEFORE INSERT ON heartbeat_monitors FOR EACH ROW EXECUTE FUNCTION pharos_stamp_change();
--> statement-breakpoint
CREATE TRIGGER stamp_change_update BEFORE UPDATE ON heartbeat_monitors FOR EACH ROW
  WHEN ((OLD.slug, OLD.schedule_type, OLD.interval_seconds, OLD.cron, OLD.timezone, OLD.grace_seconds, OLD.deleted_at, OLD.status = 'paused')
    IS DISTINCT FROM (NEW.slug, NEW.schedule_type, NEW.interval_seconds, NEW.cron, NEW.timezone, NEW.grace_seconds, NEW.deleted_at, NEW.status = 'paused'))
  EXECUTE FUNCTION pharos_stamp_change();
--> statement-breakpoint
CREATE TRIGGER announce_change AFTER UPDATE OF revoked_at, expires_at, scopes ON api_keys FOR EACH ROW EXECUTE FUNCTION pharos_announce_change();
--> statement-breakpoint
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE ON beacon_keys FOR EACH ROW EXECUTE FUNCTION pharos_announce_change();
--> statement-breakpoint
CREATE TRIGGER announce_change AFTER UPDATE ON heartbeat_monitors FOR EACH ROW
  WHEN (OLD.changed_at IS DISTINCT FROM NEW.changed_at) EXECUTE FUNCTION pharos_announce_change();
--> statement-breakpoint
-- Keys carry their organization's plan; edges find a changed one by updated_at, so it too is by the database's clock.
CREATE FUNCTION pharos_stamp_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER stamp_update BEFORE UPDATE OF plan ON organizations FOR EACH ROW EXECUTE FUNCTION pharos_stamp_update();
--> statement-breakpoint
CREATE TRIGGER announce_change AFTER UPDATE OF plan ON organizations FOR EACH ROW EXECUTE FUNCTION pharos_announce_change();
--> statement-breakpoint
-- A deleted service takes its beacon keys along without a word to the edges that know them.
CREATE FUNCTION pharos_note_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO removals (id, removed_at) VALUES (OLD.id, clock_timestamp()) ON CONFLICT (id) DO NOTHING;
  DELETE FROM removals WHERE removed_at < clock_timestamp() - interval '10 minutes';
  PERFORM pg_notify('pharos_changes', TG_TABLE_NAME);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER note_removal AFTER DELETE ON beacon_keys FOR EACH ROW EXECUTE FUNCTION pharos_note_removal();
--> statement-breakpoint
CREATE TRIGGER note_removal AFTER DELETE ON services FOR EACH ROW EXECUTE FUNCTION pharos_note_removal();
--> statement-breakpoint
CREATE FUNCTION pharos_announce_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('pharos_events', '');
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER announce_event AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION pharos_announce_event();
--> statement-breakpoint
CREATE TRIGGER announce_delivery AFTER INSERT ON webhook_deliveries FOR EACH STATEMENT EXECUTE FUNCTION pharos_announce_event();
--> statement-breakpoint
CREATE FUNCTION pharos_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Deleting a whole organization takes its log along (the cascade runs one level deep).
  IF TG_OP = 'DELETE' AND pg_trigger_depth() > 1 THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
--> statement-breakpoint
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION pharos_refuse_audit_change();

ALTER TABLE "heartbeat_monitors" ADD COLUMN "notification_channels" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "heartbeat_monitors" ADD COLUMN "memory" jsonb DEFAULT '{"open":[],"over":[],"last":null,"oks":[]}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "heartbeat_monitors" ADD COLUMN "warning" text;--> statement-breakpoint
-- Runs in progress, and what counted last, go on under the new rules.
UPDATE heartbeat_monitors SET memory = jsonb_build_object(
  'open', CASE WHEN last_start_at IS NULL THEN '[]'::jsonb ELSE jsonb_build_array(jsonb_build_object('id', null, 'startedAt', floor(extract(epoch FROM last_start_at) * 1000)::bigint)) END,
  'over', '[]'::jsonb,
  'last', CASE WHEN last_ping_at IS NULL THEN 'null'::jsonb ELSE jsonb_build_object('at', floor(extract(epoch FROM last_ping_at) * 1000)::bigint, 'edgeId', null, 'runId', null) END,
  'oks', '[]'::jsonb)
WHERE last_ping_at IS NOT NULL;

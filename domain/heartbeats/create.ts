import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { CreateHeartbeatMonitor, HeartbeatMonitor } from "../../schemas/api/heartbeat-monitors.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { checkChannels } from "../monitors/check-channels.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkSchedule } from "./check-schedule.ts";
import { checkService } from "./check-service.ts";
import { checkSlug, freeSlug, slugTaken } from "./choose-slug.ts";
import { showHeartbeatMonitor } from "./read.ts";

/** INVALID_REQUEST for a schedule that makes none, NOT_FOUND for a foreign service or channel, PLAN_LIMIT, SLUG_TAKEN. */
export async function createHeartbeatMonitor(database: Database, actor: Actor, input: CreateHeartbeatMonitor, at: Date): Promise<HeartbeatMonitor> {
  const { organizationId } = actor;
  const schedule = checkSchedule({
    schedule_type: input.schedule_type ?? (input.cron === undefined ? "interval" : "cron"),
    interval_seconds: input.interval_seconds ?? null,
    cron: input.cron ?? null,
    timezone: input.timezone,
  });
  if (input.slug !== undefined) checkSlug(input.slug);
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, organizationId, "monitors");
    await checkService(tx, organizationId, input.service_id);
    const notificationChannels = await checkChannels(tx, organizationId, input.notification_channels);
    const slug = input.slug ?? (await freeSlug(tx, organizationId, input.name));
    const [row] = await tx
      .insert(heartbeatMonitors)
      .values({
        id: newId(),
        organizationId,
        serviceId: input.service_id,
        name: input.name,
        slug,
        ...schedule,
        graceSeconds: input.grace_seconds,
        maxRuntimeSeconds: input.max_runtime_seconds,
        notificationChannels,
        status: input.enabled ? "new" : "paused",
        createdAt: at,
        updatedAt: at,
      })
      .onConflictDoNothing()
      .returning();
    if (!row) throw slugTaken(slug);
    const created = showHeartbeatMonitor(row);
    await recordAudit(tx, actor, { action: "heartbeat_monitor.created", resourceType: "heartbeat_monitor", resourceId: row.id, before: null, after: created });
    return created;
  });
}

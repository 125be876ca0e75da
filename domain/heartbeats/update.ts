import { eq } from "drizzle-orm";
import { inTransaction, postgresCode, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { HeartbeatMonitor, UpdateHeartbeatMonitor } from "../../schemas/api/heartbeat-monitors.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { checkService } from "./check-service.ts";
import { checkSlug, slugTaken } from "./choose-slug.ts";
import { decideUpdate } from "./decide-update.ts";
import { lockHeartbeatMonitor } from "./lock.ts";
import { showHeartbeatMonitor, type HeartbeatMonitorRow } from "./read.ts";
import { checkChannels } from "../monitors/check-channels.ts";
import { weighOnServices } from "../monitors/weigh-on-services.ts";

const UNIQUE_VIOLATION = "23505";

/** Changes a monitor; what is left out stays. NOT_FOUND, INVALID_REQUEST, SLUG_TAKEN. */
export async function updateHeartbeatMonitor(database: Database, actor: Actor, id: string, patch: UpdateHeartbeatMonitor, at: Date): Promise<HeartbeatMonitor> {
  if (patch.slug !== undefined) checkSlug(patch.slug);
  return inTransaction(database, async (tx) => {
    const row = await lockHeartbeatMonitor(tx, actor.organizationId, id);
    const now = decideUpdate(row, patch, at);
    if (now.serviceId !== row.serviceId) await checkService(tx, actor.organizationId, now.serviceId);
    if (patch.notification_channels !== undefined) now.notificationChannels = await checkChannels(tx, actor.organizationId, patch.notification_channels);
    await tx.update(heartbeatMonitors).set(now).where(eq(heartbeatMonitors.id, row.id));
    await weighAfter(tx, row, now, at);
    const [before, after] = [showHeartbeatMonitor(row), showHeartbeatMonitor(now)];
    await recordAudit(tx, actor, { action: "heartbeat_monitor.updated", resourceType: "heartbeat_monitor", resourceId: row.id, before, after });
    return after;
  }).catch((error: unknown) => {
    throw patch.slug !== undefined && postgresCode(error) === UNIQUE_VIOLATION ? slugTaken(patch.slug) : error;
  });
}

/** The services that a monitor weighs on before and after, when it was or is down there. */
async function weighAfter(tx: Transaction, before: HeartbeatMonitorRow, after: HeartbeatMonitorRow, at: Date): Promise<void> {
  if (after.serviceId === before.serviceId && after.status === before.status) return;
  await weighOnServices(tx, [before, after].map(({ status, serviceId }) => (status === "down" ? serviceId : null)), at);
}

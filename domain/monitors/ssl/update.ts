import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { SslMonitor, UpdateSslMonitor } from "../../../schemas/api/ssl-monitors.ts";
import { sslMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { checkService } from "../../heartbeats/check-service.ts";
import { checkChannels } from "../check-channels.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { judgeStatus } from "./decide.ts";
import { lockSslMonitor } from "./lock.ts";
import { certificateOf, showSslMonitor, type SslMonitorRow } from "./read.ts";
import { weighs } from "./record.ts";

/** Changes a monitor; what is left out stays. NOT_FOUND for a monitor, service or channel that is not the organization's own. */
export async function updateSslMonitor(database: Database, actor: Actor, id: string, patch: UpdateSslMonitor, at: Date): Promise<SslMonitor> {
  const { organizationId } = actor;
  return inTransaction(database, async (tx) => {
    const row = await lockSslMonitor(tx, organizationId, id);
    const now = changed(row, patch, at);
    if (now.serviceId !== row.serviceId) await checkService(tx, organizationId, now.serviceId);
    if (patch.notification_channels !== undefined) now.notificationChannels = await checkChannels(tx, organizationId, patch.notification_channels);
    await tx.update(sslMonitors).set(now).where(eq(sslMonitors.id, row.id));
    if (weighs(row) !== weighs(now) || now.serviceId !== row.serviceId) await weighOnServices(tx, [row, now].map((each) => (weighs(each) ? each.serviceId : null)), at);
    const [before, after] = [showSslMonitor(row), showSslMonitor(now)];
    await recordAudit(tx, actor, { action: "ssl_monitor.updated", resourceType: "ssl_monitor", resourceId: row.id, before, after });
    return after;
  });
}

/** The status follows the number of days at once; a warning that is now due is told by the check that this brings forward, as is what a paused monitor missed. */
function changed(row: SslMonitorRow, patch: UpdateSslMonitor, at: Date): SslMonitorRow {
  const alertDays = patch.alert_days ?? row.alertDays;
  const enabled = patch.enabled ?? row.enabled;
  const certificate = certificateOf(row);
  const checkSoon = row.leaseToken === null && ((enabled && !row.enabled) || alertDays !== row.alertDays);
  return {
    ...row,
    alertDays,
    enabled,
    serviceId: patch.service_id === undefined ? row.serviceId : patch.service_id,
    status: certificate === null || row.status === "error" ? row.status : judgeStatus(certificate, alertDays).status,
    dueAt: checkSoon ? at : row.dueAt,
    updatedAt: at > row.updatedAt ? at : row.updatedAt,
  };
}

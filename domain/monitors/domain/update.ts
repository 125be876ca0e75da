import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { DomainMonitor, UpdateDomainMonitor } from "../../../schemas/api/domain-monitors.ts";
import { domainMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { checkService } from "../../heartbeats/check-service.ts";
import { checkChannels } from "../check-channels.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { statusOfDays } from "../expiry.ts";
import { lockDomainMonitor } from "./lock.ts";
import { showDomainMonitor, type DomainMonitorRow } from "./read.ts";
import { weighs } from "./record.ts";

/** Changes a monitor; what is left out stays. NOT_FOUND for a monitor, service or channel that is not the organization's own. */
export async function updateDomainMonitor(database: Database, actor: Actor, id: string, patch: UpdateDomainMonitor, at: Date): Promise<DomainMonitor> {
  const { organizationId } = actor;
  return inTransaction(database, async (tx) => {
    const row = await lockDomainMonitor(tx, organizationId, id);
    const now = changed(row, patch, at);
    if (now.serviceId !== row.serviceId) await checkService(tx, organizationId, now.serviceId);
    if (patch.notification_channels !== undefined) now.notificationChannels = await checkChannels(tx, organizationId, patch.notification_channels);
    await tx.update(domainMonitors).set(now).where(eq(domainMonitors.id, row.id));
    if (weighs(row) !== weighs(now) || now.serviceId !== row.serviceId) await weighOnServices(tx, [row, now].map((each) => (weighs(each) ? each.serviceId : null)), at);
    const [before, after] = [showDomainMonitor(row), showDomainMonitor(now)];
    await recordAudit(tx, actor, { action: "domain_monitor.updated", resourceType: "domain_monitor", resourceId: row.id, before, after });
    return after;
  });
}

/** The status follows the number of days at once; a warning that is now due is told by the next look-up, as is what a paused monitor missed. Another way of looking up is tried at once. */
function changed(row: DomainMonitorRow, patch: UpdateDomainMonitor, at: Date): DomainMonitorRow {
  const alertDays = patch.alert_days ?? row.alertDays;
  const lookupMethod = patch.lookup_method ?? row.lookupMethod;
  return {
    ...row,
    alertDays,
    lookupMethod,
    enabled: patch.enabled ?? row.enabled,
    serviceId: patch.service_id === undefined ? row.serviceId : patch.service_id,
    status: row.daysUntilExpiry === null || row.status === "error" ? row.status : statusOfDays(row.daysUntilExpiry, alertDays),
    dueAt: lookupMethod !== row.lookupMethod && row.leaseToken === null ? at : row.dueAt,
    updatedAt: at > row.updatedAt ? at : row.updatedAt,
  };
}

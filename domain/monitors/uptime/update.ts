import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { UpdateUptimeMonitor, UptimeMonitor } from "../../../schemas/api/uptime-monitors.ts";
import { uptimeMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { checkService } from "../../heartbeats/check-service.ts";
import { checkChannels } from "../check-channels.ts";
import { weighOnServices } from "../weigh-on-services.ts";
import { checkMonitorUrl, type UrlRules } from "./check-url.ts";
import { decideUpdate } from "./decide-update.ts";
import { auditedUptimeMonitor, hasOpinion, lockUptimeMonitor, showUptimeMonitor } from "./read.ts";

interface UpdateNeeds {
  database: Database;
  config: UrlRules;
}

interface Change {
  id: string;
  patch: UpdateUptimeMonitor;
  at: Date;
}

/** Changes a monitor; what is left out stays. NOT_FOUND, INVALID_REQUEST for its URL or a masked value that is lost. */
export async function updateUptimeMonitor({ database, config }: UpdateNeeds, actor: Actor, { id, patch, at }: Change): Promise<UptimeMonitor> {
  if (patch.url !== undefined) checkMonitorUrl(patch.url, config);
  return inTransaction(database, async (tx) => {
    const row = await lockUptimeMonitor(tx, actor.organizationId, id);
    const now = decideUpdate(row, patch, at);
    if (now.serviceId !== row.serviceId) await checkService(tx, actor.organizationId, now.serviceId);
    if (patch.notification_channels !== undefined) now.notificationChannels = await checkChannels(tx, actor.organizationId, patch.notification_channels);
    await tx.update(uptimeMonitors).set(now).where(eq(uptimeMonitors.id, row.id));
    if (now.serviceId !== row.serviceId || now.status !== row.status) await weighOnServices(tx, [row, now].map((each) => (hasOpinion(each) ? each.serviceId : null)), at);
    await recordAudit(tx, actor, { action: "uptime_monitor.updated", resourceType: "uptime_monitor", resourceId: row.id, before: auditedUptimeMonitor(row), after: auditedUptimeMonitor(now) });
    return showUptimeMonitor(now);
  });
}

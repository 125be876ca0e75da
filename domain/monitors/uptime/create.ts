import { newId } from "../../../platform/ids.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { CreateUptimeMonitor, UptimeMonitor } from "../../../schemas/api/uptime-monitors.ts";
import { uptimeMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { checkService } from "../../heartbeats/check-service.ts";
import { requireRoom } from "../../organizations/require-room.ts";
import { checkChannels } from "../check-channels.ts";
import { checkMonitorUrl, type UrlRules } from "./check-url.ts";
import { unhideRequest } from "./hidden-request.ts";
import { auditedUptimeMonitor, showUptimeMonitor } from "./read.ts";

interface CreateNeeds {
  database: Database;
  config: UrlRules;
}

/** Makes a monitor that is due at once. INVALID_REQUEST for its URL, NOT_FOUND for a foreign service or channel, PLAN_LIMIT. */
export async function createUptimeMonitor({ database, config }: CreateNeeds, actor: Actor, input: CreateUptimeMonitor, at: Date): Promise<UptimeMonitor> {
  const { organizationId } = actor;
  checkMonitorUrl(input.url, config);
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, organizationId, "monitors");
    await checkService(tx, organizationId, input.service_id);
    const notificationChannels = await checkChannels(tx, organizationId, input.notification_channels);
    const [row] = await tx
      .insert(uptimeMonitors)
      .values({
        id: newId(),
        organizationId,
        serviceId: input.service_id,
        enabled: input.enabled,
        notificationChannels,
        dueAt: at,
        createdAt: at,
        updatedAt: at,
        name: input.name,
        url: input.url,
        method: input.method,
        ...unhideRequest(input, null, input.url),
        intervalSeconds: input.interval_seconds,
        timeoutMs: input.timeout_ms,
        expectedStatusCodes: input.expected_status_codes,
        requiredKeyword: input.required_keyword,
        followRedirects: input.follow_redirects,
        verifySsl: input.verify_ssl,
        failuresToDown: input.failures_to_down,
        successesToUp: input.successes_to_up,
        degradedAfterMs: input.degraded_after_ms,
        createIncident: input.create_incident,
        status: input.enabled ? "pending" : "paused",
      })
      .returning();
    const created = showUptimeMonitor(row!);
    await recordAudit(tx, actor, { action: "uptime_monitor.created", resourceType: "uptime_monitor", resourceId: row!.id, before: null, after: auditedUptimeMonitor(row!) });
    return created;
  });
}

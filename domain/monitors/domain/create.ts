import { Failure } from "../../../platform/failures.ts";
import { newId } from "../../../platform/ids.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { CreateDomainMonitor, DomainMonitor } from "../../../schemas/api/domain-monitors.ts";
import { domainMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { checkService } from "../../heartbeats/check-service.ts";
import { requireRoom } from "../../organizations/require-room.ts";
import { checkChannels } from "../check-channels.ts";
import { showDomainMonitor } from "./read.ts";
import { registrableDomain } from "./registrable.ts";

/** Creates a monitor that is due at once. INVALID_REQUEST for what is not registered like a domain, NOT_FOUND for a foreign service or channel, PLAN_LIMIT. */
export async function createDomainMonitor(database: Database, actor: Actor, input: CreateDomainMonitor, at: Date): Promise<DomainMonitor> {
  const { organizationId } = actor;
  const registrable = registrableDomain(input.domain);
  if (!registrable.ok) throw new Failure("INVALID_REQUEST", registrable.sentence, { path: "/domain" });
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, organizationId, "monitors");
    await checkService(tx, organizationId, input.service_id);
    const notificationChannels = await checkChannels(tx, organizationId, input.notification_channels);
    const [row] = await tx
      .insert(domainMonitors)
      .values({
        id: newId(),
        organizationId,
        serviceId: input.service_id,
        notificationChannels,
        domain: registrable.domain,
        alertDays: input.alert_days,
        lookupMethod: input.lookup_method,
        enabled: input.enabled,
        dueAt: at,
        createdAt: at,
        updatedAt: at,
      })
      .returning();
    const created = showDomainMonitor(row!);
    await recordAudit(tx, actor, { action: "domain_monitor.created", resourceType: "domain_monitor", resourceId: created.id, before: null, after: created });
    return created;
  });
}

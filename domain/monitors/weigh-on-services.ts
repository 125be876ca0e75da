import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { domainMonitors, heartbeatMonitors, sslMonitors, uptimeMonitors } from "../../schemas/tables/all.ts";
import { SERVICE_STATUSES } from "../../schemas/vocabulary.ts";
import { changeOpinions } from "../services/change-status.ts";
import { lockServices } from "../services/lock.ts";

const NAMED = 3;

type Verdict = "degraded" | "major_outage";

/** A monitor that has something against its service. */
type Contrary = { service_id: string; finding: string; verdict: Verdict };

/**
 * Derives the opinion of `monitors` on services from their monitors of all kinds as they now stand in this transaction: the worst of them counts.
 * major_outage for a heartbeat or uptime monitor that is down, a certificate that is invalid or expired, a registration that is expired; degraded for
 * an uptime monitor that is. A status set by hand while one is down holds until that changes. Called when a monitor changes its status, is moved, paused or deleted.
 */
export async function weighOnServices(tx: Transaction, serviceIds: readonly (string | null)[], at: Date): Promise<void> {
  const ids = [...new Set(serviceIds.filter((id) => id !== null))];
  if (ids.length === 0) return;
  // Two monitors of a service may change at once: who waits here then sees what the other did.
  await lockServices(tx, ids);
  const contrary = await findContrary(tx, ids);
  const changes = ids.map((serviceId) => {
    const found = contrary.filter(({ service_id: id }) => id === serviceId);
    const worst = found.reduce<Verdict | null>((so_far, { verdict }) => (so_far === null || SERVICE_STATUSES.indexOf(verdict) > SERVICE_STATUSES.indexOf(so_far) ? verdict : so_far), null);
    return { serviceId, source: "monitors" as const, status: worst, reason: reasonOf(found.filter(({ verdict }) => verdict === worst).map(({ finding }) => finding)) };
  });
  await changeOpinions(tx, changes, at);
}

/** In the order of their names. */
async function findContrary(tx: Transaction, serviceIds: readonly string[]): Promise<Contrary[]> {
  const ids = sql`any(${uuids(serviceIds)})`;
  const { rows } = await tx.execute<Contrary>(sql`
    select service_id, 'Heartbeat monitor "' || name || '" is down' as finding, 'major_outage' as verdict from ${heartbeatMonitors} where service_id = ${ids} and status = 'down' and deleted_at is null
    union all
    select service_id, 'Monitor "' || name || case status when 'down' then '" is down' else '" is slow' end, case status when 'down' then 'major_outage' else 'degraded' end from ${uptimeMonitors} where service_id = ${ids} and enabled and status in ('down', 'degraded')
    union all
    select service_id, 'The certificate of ' || domain || ' is not valid', 'major_outage' from ${sslMonitors} where service_id = ${ids} and enabled and certificate ->> 'is_valid' = 'false'
    union all
    select service_id, 'The registration of ' || domain || ' has expired', 'major_outage' from ${domainMonitors} where service_id = ${ids} and enabled and days_until_expiry < 0
    order by 2`);
  return rows;
}

/** A sentence for the status history. */
function reasonOf(findings: string[]): string {
  if (findings.length === 0) return "No monitor is down.";
  const more = findings.length > NAMED ? `, and ${findings.length - NAMED} more` : "";
  return `${findings.slice(0, NAMED).join(", ")}${more}.`;
}

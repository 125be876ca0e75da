import { and, asc, eq, inArray, isNull } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import { changeOpinions } from "../services/change-status.ts";
import { lockServices } from "../services/lock.ts";

const NAMED = 3;

/**
 * Derives the opinion of `monitors` on services from their heartbeat monitors as they now stand in this transaction:
 * major_outage while any of them is down, else none. A status set by hand while one is down holds until all are up. Called when a monitor goes down, comes up, is moved, paused or deleted.
 */
export async function weighOnServices(tx: Transaction, serviceIds: readonly (string | null)[], at: Date): Promise<void> {
  const ids = [...new Set(serviceIds.filter((id) => id !== null))];
  if (ids.length === 0) return;
  // Two monitors of a service may change at once: who waits here then sees what the other did.
  await lockServices(tx, ids);
  const down = await tx
    .select({ serviceId: heartbeatMonitors.serviceId, name: heartbeatMonitors.name })
    .from(heartbeatMonitors)
    .where(and(inArray(heartbeatMonitors.serviceId, ids), eq(heartbeatMonitors.status, "down"), isNull(heartbeatMonitors.deletedAt)))
    .orderBy(asc(heartbeatMonitors.name), asc(heartbeatMonitors.id));
  const names = new Map<string | null, string[]>(ids.map((id) => [id, []]));
  for (const { serviceId, name } of down) names.get(serviceId)?.push(name);
  const changes = ids.map((serviceId) => {
    const found = names.get(serviceId)!;
    return { serviceId, source: "monitors" as const, status: found.length > 0 ? ("major_outage" as const) : null, reason: reasonOf(found) };
  });
  await changeOpinions(tx, changes, at);
}

/** A sentence for the status history. */
function reasonOf(names: string[]): string {
  if (names.length === 0) return "No heartbeat monitor is down.";
  const shown = names.slice(0, NAMED).map((name) => `"${name}"`).join(", ");
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return names.length === 1 ? `Heartbeat monitor ${shown} is down.` : `Heartbeat monitors ${shown}${more} are down.`;
}

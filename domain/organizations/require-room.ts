import { and, eq, isNull } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { PLAN_LIMITS, type LimitedResource } from "../../schemas/plans.ts";
import { apiKeys, beaconKeys, channels, domainMonitors, heartbeatMonitors, organizations, services, sslMonitors, statusPages, uptimeMonitors, webhooks, workflows } from "../../schemas/tables/all.ts";
import { PLANS, type Plan } from "../../schemas/vocabulary.ts";

/** Names for people, in the plural. */
const NAMES: Record<LimitedResource, string> = {
  status_pages: "status pages",
  services: "services",
  monitors: "monitors",
  webhooks: "webhooks",
  channels: "notification channels",
  api_keys: "API keys",
  beacon_keys: "beacon keys",
  workflows: "workflows",
};

/** How many of each an organization has. */
const COUNTS: Record<LimitedResource, (tx: Transaction, organizationId: string) => Promise<number>> = {
  status_pages: (tx, id) => tx.$count(statusPages, eq(statusPages.organizationId, id)),
  services: (tx, id) => tx.$count(services, eq(services.organizationId, id)),
  monitors: countMonitors,
  webhooks: (tx, id) => tx.$count(webhooks, eq(webhooks.organizationId, id)),
  channels: (tx, id) => tx.$count(channels, eq(channels.organizationId, id)),
  // Expired ones too: who needs the place revokes them.
  api_keys: (tx, id) => tx.$count(apiKeys, and(eq(apiKeys.organizationId, id), isNull(apiKeys.revokedAt))),
  beacon_keys: (tx, id) => tx.$count(beaconKeys, and(eq(beaconKeys.organizationId, id), isNull(beaconKeys.deletedAt))),
  workflows: (tx, id) => tx.$count(workflows, eq(workflows.organizationId, id)),
};

/** Of all kinds. */
async function countMonitors(tx: Transaction, organizationId: string): Promise<number> {
  const heartbeats = await tx.$count(heartbeatMonitors, and(eq(heartbeatMonitors.organizationId, organizationId), isNull(heartbeatMonitors.deletedAt)));
  const uptime = await tx.$count(uptimeMonitors, eq(uptimeMonitors.organizationId, organizationId));
  const ssl = await tx.$count(sslMonitors, eq(sslMonitors.organizationId, organizationId));
  return heartbeats + uptime + ssl + (await tx.$count(domainMonitors, eq(domainMonitors.organizationId, organizationId)));
}

/**
 * Makes sure that the organization's plan has room for one more, before it is made in this transaction. The
 * organization stays locked until the transaction ends, so that two creates at once cannot both take the last place.
 * PLAN_LIMIT naming the plan that would allow it.
 */
export async function requireRoom(tx: Transaction, organizationId: string, resource: LimitedResource): Promise<void> {
  // Not `for update`: that would also wait for everybody who only refers to the organization by a foreign key.
  const [organization] = await tx.select({ plan: organizations.plan }).from(organizations).where(eq(organizations.id, organizationId)).for("no key update");
  if (!organization) throw new Failure("NOT_FOUND", "No such organization.");
  const refusal = planLimitRefusal(organization.plan, resource, await COUNTS[resource](tx, organizationId));
  if (refusal) throw refusal;
}

/** Pure: the failure when a plan has no room beside `existing`, else null. */
export function planLimitRefusal(plan: Plan, resource: LimitedResource, existing: number): Failure | null {
  const limits = PLAN_LIMITS[resource];
  if (existing < limits[plan]) return null;
  const larger = PLANS.slice(PLANS.indexOf(plan) + 1).find((each) => limits[each] > existing);
  const fix = larger ? `The ${larger} plan allows ${limits[larger]}. Change the plan, or delete some.` : "Delete some that are not needed any more.";
  return new Failure("PLAN_LIMIT", `The ${plan} plan allows ${limits[plan]} ${limits[plan] === 1 ? NAMES[resource].replace(/s$/, "") : NAMES[resource]}.`, { fix });
}

import { eq, sum } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { SOURCE_MAP_STORAGE_BYTES } from "../../schemas/plans.ts";
import { organizations, sourceMapFiles, sourceMaps } from "../../schemas/tables/all.ts";
import { PLANS, type Plan } from "../../schemas/vocabulary.ts";

/** What a map takes beside its index: its row with the address, and that row in four indexes. */
const ROW_BYTES = 1_024;

/**
 * Makes sure that an organization's source maps take no more than its plan allows. Called in a transaction after a map was written, it
 * judges with that map, and the organization stays locked until the transaction ends, so that two uploads at once cannot both take
 * the last place. PLAN_LIMIT with what is used and what is allowed.
 */
export async function requireStorage(queries: Queries, organizationId: string): Promise<void> {
  const [organization] = await queries.select({ plan: organizations.plan }).from(organizations).where(eq(organizations.id, organizationId)).for("no key update");
  const refusal = storageRefusal(organization!.plan, await storedBytes(queries, organizationId));
  if (refusal) throw refusal;
}

/**
 * Bytes of an organization's source maps as they are stored: each index with the sources in it, once for each different content however
 * many scripts and releases have it, and 1 KiB for each map.
 */
async function storedBytes(queries: Queries, organizationId: string): Promise<number> {
  const [files] = await queries.select({ bytes: sum(sourceMapFiles.storedBytes) }).from(sourceMapFiles).where(eq(sourceMapFiles.organizationId, organizationId));
  return Number(files!.bytes ?? 0) + ROW_BYTES * (await queries.$count(sourceMaps, eq(sourceMaps.organizationId, organizationId)));
}

/** Pure: the failure when a plan does not allow what source maps take, else null. */
export function storageRefusal(plan: Plan, stored: number): Failure | null {
  const allowed = SOURCE_MAP_STORAGE_BYTES[plan];
  if (stored <= allowed) return null;
  const larger = PLANS.slice(PLANS.indexOf(plan) + 1).find((each) => SOURCE_MAP_STORAGE_BYTES[each] >= stored);
  const fix = `Delete the maps of releases that nobody uses any more${larger ? `, or change to the ${larger} plan, which allows ${inGibibytes(SOURCE_MAP_STORAGE_BYTES[larger])}` : ""}.`;
  return new Failure("PLAN_LIMIT", `The ${plan} plan allows ${inGibibytes(allowed)} of source maps as they are stored; with this one they take ${inGibibytes(stored)}.`, { path: "/file", fix });
}

/** Rounded up, so that what is above a limit never reads like the limit. */
function inGibibytes(bytes: number): string {
  return `${Math.ceil((bytes / 1024 ** 3) * 1_000) / 1_000} GiB`;
}

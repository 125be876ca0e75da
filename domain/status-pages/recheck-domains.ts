import { and, eq, gt, inArray, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import type { ResolveTxt } from "../../platform/resolve-txt.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import { explainTaken } from "./check.ts";
import { lookUpProof, noteProof } from "./verify-domain.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** For so long Pharos looks by itself for the proof of a new claim. */
const CLAIM_MS = 7 * DAY_MS;
/** So many are looked at in one go. */
export const DOMAIN_BATCH = 500;
const AT_ONCE = 10;

/**
 * Looks at the proofs of domains that are due: a verified one each day, one whose proof is gone each hour, and a new claim each hour for a week. Resolves
 * with how many it looked at; there may be more when that is a full batch of 500.
 */
export async function recheckDomains({ database, resolveTxt }: { database: Database; resolveTxt: ResolveTxt }, at: Date, stopping: AbortSignal): Promise<number> {
  const { customDomainStatus: status, customDomainCheckedAt: checkedAt, customDomainFailingSince: failingSince, customDomainClaimedAt: claimedAt } = statusPages;
  const before = (ms: number) => or(isNull(checkedAt), lt(checkedAt, new Date(at.getTime() - ms)));
  const due = await database
    .select()
    .from(statusPages)
    .where(
      or(
        and(eq(status, "verified"), before(DAY_MS)),
        and(eq(status, "verified"), isNotNull(failingSince), before(HOUR_MS)),
        and(inArray(status, ["pending", "failed"]), gt(claimedAt, new Date(at.getTime() - CLAIM_MS)), before(HOUR_MS)),
      ),
    )
    .orderBy(sql`${checkedAt} nulls first`)
    .limit(DOMAIN_BATCH);
  const waiting = [...due];
  const work = async () => {
    for (let page = waiting.shift(); page && !stopping.aborted; page = waiting.shift()) {
      const proof = await lookUpProof(resolveTxt, page);
      await noteProof(database, page, { proof, at, asked: false }).catch(async (error: unknown) => {
        if (explainTaken(error, {}) === error) throw error;
        // Another page has proven the domain and has it: this claim goes on waiting.
        await database.update(statusPages).set({ customDomainCheckedAt: at }).where(eq(statusPages.id, page.id));
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return due.length;
}

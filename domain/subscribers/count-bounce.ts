import { eq, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { subscribers } from "../../schemas/tables/all.ts";

/** So many refusals for good and nothing more is sent, until a confirmation shows that the address works. */
const BOUNCES_TO_QUARANTINE = 3;

/** Counts a refusal for good; the third since its confirmation quarantines an active subscriber. */
export async function countBounce(tx: Transaction, subscriberId: string, at: Date): Promise<void> {
  await tx
    .update(subscribers)
    .set({
      bounces: sql`${subscribers.bounces} + 1`,
      state: sql`case when ${subscribers.state} = 'active' and ${subscribers.bounces} + 1 >= ${BOUNCES_TO_QUARANTINE} then 'quarantined'::subscriber_state else ${subscribers.state} end`,
      updatedAt: at,
    })
    .where(eq(subscribers.id, subscriberId));
}

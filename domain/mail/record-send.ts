import { and, eq, sql } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { mails, subscribers } from "../../schemas/tables/all.ts";
import { countBounce } from "../subscribers/count-bounce.ts";
import { planSend, type SendPlan } from "./plan-send.ts";

interface HeldMail {
  id: string;
  subscriberId: string | null;
  attempts: number;
}

interface Sending {
  /** The lease's. */
  token: string;
  result: { kind: "sent" } | { kind: "failed"; error: string; permanent: boolean; bounced: boolean };
  at: Date;
}

/**
 * Records a try to send and what follows from it, in one transaction: what was refused for good counts against its subscriber.
 * `lost` means that nothing was recorded, because the lease was taken over or the mail's subscriber deleted.
 */
export async function recordSend(database: Database, { id, subscriberId, attempts }: HeldMail, { token, result, at }: Sending): Promise<SendPlan | { kind: "lost" }> {
  const plan = planSend({ tries: attempts + 1, result, at });
  const error = result.kind === "failed" ? result.error : null;
  return inTransaction(database, async (tx) => {
    // The subscriber before its mail, as whoever deletes one does.
    if (subscriberId !== null) await tx.select({ id: subscribers.id }).from(subscribers).where(eq(subscribers.id, subscriberId)).for("no key update");
    const [row] = await tx
      .update(mails)
      .set({
        attempts: sql`${mails.attempts} + 1`,
        leaseToken: null,
        error,
        ...(plan.kind === "retry" ? { dueAt: plan.at } : { status: plan.kind, text: null, html: null, headers: null, finishedAt: at }),
      })
      .where(and(eq(mails.id, id), eq(mails.leaseToken, token), eq(mails.status, "pending")))
      .returning({ id: mails.id });
    if (!row) return { kind: "lost" };
    if (result.kind === "failed" && result.bounced && subscriberId !== null) await countBounce(tx, subscriberId, at);
    return plan;
  });
}

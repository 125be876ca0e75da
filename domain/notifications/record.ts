import { and, eq, inArray, notInArray, sql, type SQL } from "drizzle-orm";
import { inTransaction, type Database, type Queries, type Transaction } from "../../platform/postgres/database.ts";
import { channels, notifications } from "../../schemas/tables/all.ts";
import type { ClaimedChannel } from "./claim.ts";
import { pauseUntil, planRetry } from "./plan-retry.ts";
import type { AnswerOutcome } from "./read-answer.ts";
import type { WaitingNotification } from "./waiting.ts";

/** What telling a channel something brought. */
export interface Attempt {
  outcome: AnswerOutcome;
  /** Null when there was no answer. */
  statusCode: number | null;
  /** Without secrets. */
  responseBody: string | null;
  durationMs: number;
  at: Date;
  /** From when the channel may be told the next thing. */
  nextAt: Date;
}

type Recorded = { kind: "delivered" | "failed" | "abandoned" } | { kind: "retry"; at: Date } | { kind: "lost" };

/**
 * Records an attempt to tell a channel `told` by one message and what follows from it, and gives the channel back, in one transaction. A test
 * and a code are tried once. What would be retried is abandoned when the channel was disabled meanwhile. `lost` means that nothing was recorded,
 * because the lease was taken over or the channel deleted.
 */
export async function recordAttempt(database: Database, claimed: Pick<ClaimedChannel, "id" | "leaseToken">, told: readonly WaitingNotification[], attempt: Attempt): Promise<Recorded> {
  return inTransaction(database, async (tx) => {
    const channel = await giveBack(tx, claimed, attempt.nextAt);
    if (!channel) return { kind: "lost" };
    const { outcome, at } = attempt;
    if (outcome.kind !== "retry") {
      const status = outcome.kind === "delivered" ? "delivered" : "failed";
      await note(tx, told, attempt, { status, finishedAt: at, coalescedInto: sql`nullif(${told[0]?.id ?? null}::uuid, ${notifications.id})` });
      return { kind: status };
    }
    const plans = told.map((each) => ({ each, retryAt: ["test", "code"].includes(each.trigger) ? null : planRetry(each.firstAttemptAt ?? at, at, outcome.afterMs) }));
    const again = plans.flatMap(({ each, retryAt }) => (retryAt === null ? [] : [{ each, retryAt }]));
    await note(tx, plans.flatMap(({ each, retryAt }) => (retryAt === null ? [each] : [])), attempt, { status: "failed", finishedAt: at });
    if (!channel.enabled) await note(tx, again.map(({ each }) => each), attempt, { status: "abandoned", finishedAt: at });
    const retryAt = again.map((each) => each.retryAt).reduce<Date | null>((first, each) => (first === null || each < first ? each : first), null);
    if (!channel.enabled || retryAt === null) return { kind: again.length === 0 ? "failed" : "abandoned" };
    await note(tx, again.map(({ each }) => each), attempt, { dueAt: retryAt });
    await pauseOthers(tx, claimed.id, pauseUntil(at, retryAt));
    return { kind: "retry", at: retryAt };
  });
}

/** Gives a claimed channel back without telling it anything, which may be done by anybody from `at` on. */
export async function releaseChannel(database: Database, claimed: Pick<ClaimedChannel, "id" | "leaseToken">, at: Date): Promise<void> {
  await giveBack(database, claimed, at);
}

/** Gives a claimed channel back that was disabled, and gives up what waits for it, but for tests and codes. */
export async function abandonClaimed(database: Database, claimed: Pick<ClaimedChannel, "id" | "leaseToken">, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const channel = await giveBack(tx, claimed, at);
    if (channel && !channel.enabled) await abandonWaiting(tx, claimed.id, at);
  });
}

/** Gives up what waits for a channel that is being disabled, but for tests and codes. */
export async function abandonWaiting(tx: Transaction, channelId: string, at: Date): Promise<void> {
  await tx
    .update(notifications)
    .set({ status: "abandoned", error: "The channel was disabled.", finishedAt: at })
    .where(and(eq(notifications.channelId, channelId), eq(notifications.status, "pending"), notInArray(notifications.trigger, ["test", "code"])));
}

async function giveBack(queries: Queries, { id, leaseToken }: Pick<ClaimedChannel, "id" | "leaseToken">, dueAt: Date): Promise<{ enabled: boolean } | undefined> {
  const [channel] = await queries.update(channels).set({ leaseToken: null, dueAt }).where(and(eq(channels.id, id), eq(channels.leaseToken, leaseToken))).returning({ enabled: channels.enabled });
  return channel;
}

interface Change {
  status?: "delivered" | "failed" | "abandoned";
  finishedAt?: Date;
  dueAt?: Date;
  coalescedInto?: SQL;
}

async function note(tx: Transaction, told: readonly WaitingNotification[], { outcome, statusCode, responseBody, durationMs, at }: Attempt, change: Change): Promise<void> {
  if (told.length === 0) return;
  await tx
    .update(notifications)
    .set({
      ...change,
      attempts: sql`${notifications.attempts} + 1`,
      firstAttemptAt: sql`coalesce(${notifications.firstAttemptAt}, ${at.toISOString()}::timestamptz)`,
      responseStatusCode: statusCode,
      responseBody,
      durationMs,
      error: outcome.kind === "delivered" ? null : outcome.error,
    })
    .where(inArray(notifications.id, told.map(({ id }) => id)));
}

/** A test and a code wait for nobody. */
async function pauseOthers(tx: Transaction, channelId: string, until: Date): Promise<void> {
  await tx
    .update(notifications)
    .set({ dueAt: until })
    .where(and(eq(notifications.channelId, channelId), eq(notifications.status, "pending"), notInArray(notifications.trigger, ["test", "code"]), sql`${notifications.dueAt} < ${until.toISOString()}::timestamptz`));
}

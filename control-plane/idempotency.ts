import { claimKey, type Claim } from "../domain/idempotency/claim.ts";
import { makeSeal, type Seal } from "../domain/idempotency/seal.ts";
import { keepAnswer, releaseClaim } from "../domain/idempotency/settle.ts";
import { Failure, FAILURE_STATUS } from "../platform/failures.ts";
import { asDatabase, inTransaction } from "../platform/postgres/database.ts";
import { failureOf, failureReply } from "./failure-reply.ts";
import type { ControlPlaneNeeds, Route } from "./route.ts";

/** An answer as it is sent. */
export interface SentAnswer {
  status: number;
  body: string;
  /** In place of the usual ones; only of a GET, for they are not kept. */
  headers?: Record<string, string>;
  /** In place of the body; only of a GET that is not kept. */
  chunks?: AsyncIterable<string>;
}

interface IdempotentCall {
  /** The Idempotency-Key header. */
  idempotencyKey: string;
  /** Of the caller: its text and its id. */
  apiKey: string;
  apiKeyId: string;
  organizationId: string;
  requestId: string;
  route: Pick<Route, "commitsEarly">;
  /** What makes two requests the same: method, address and the body as it was understood. */
  request: string;
}

/** Of an answer that is kept for a day for each key. Those of incidents are bounded below it (`UPDATES_SHOWN`). */
const MOST_KEPT_BYTES = 256 * 1024;

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Runs a POST that named an Idempotency-Key, or gives the first answer again. What the call does and the record of its
 * answer are one transaction: after a crash either both are there or neither, and a call that is so slow that its claim
 * was taken over leaves nothing. Answers that ask to try again (429, 5xx, Retry-After) are not kept.
 */
export async function answerOnce(call: IdempotentCall, needs: ControlPlaneNeeds, run: (needs: ControlPlaneNeeds) => Promise<SentAnswer>): Promise<SentAnswer & { replayed: boolean }> {
  const { database, clock } = needs;
  const { idempotencyKey, apiKey, apiKeyId, organizationId, request, requestId, route } = call;
  if (!KEY.test(idempotencyKey)) throw new Failure("INVALID_REQUEST", "Idempotency-Key must be 1 to 255 printable ASCII characters.", { fix: "Use a new UUID for each request." });
  const seal = makeSeal({ apiKey, idempotencyKey });
  const found = await claimKey(database, { organizationId, apiKeyId, key: idempotencyKey, requestHash: seal.hash(request) }, new Date(clock.now()));
  if ("kept" in found) return { status: found.kept.status, body: seal.open(found.kept.sealed, found.kept.status), replayed: true };
  const { claim } = found;
  try {
    if (route.commitsEarly) {
      const answer = await run(needs);
      await keep(database, claim, seal, keptOf(answer, requestId));
      return { ...answer, replayed: false };
    }
    return await inTransaction(database, async (tx) => {
      const answer = await run({ ...needs, database: asDatabase(tx) });
      await keep(tx, claim, seal, keptOf(answer, requestId));
      return { ...answer, replayed: false };
    });
  } catch (error) {
    await settleFailure(error, { claim, seal, needs, requestId });
    throw error;
  }
}

/** Pure: what a repetition is answered. The first answer, or that all was done, where that answer is too large to be kept. */
function keptOf(answer: SentAnswer, requestId: string): SentAnswer {
  if (Buffer.byteLength(answer.body) <= MOST_KEPT_BYTES) return answer;
  const sentence = `This was done already and answered with ${answer.status}; the answer was larger than ${MOST_KEPT_BYTES / 1024} KiB and was not kept.`;
  return failureReply(new Failure("CONFLICT", sentence, { fix: "Do not send it again; ask with GET for what it made." }), requestId);
}

async function keep(queries: Parameters<typeof keepAnswer>[0], claim: Claim, seal: Seal, { status, body }: SentAnswer): Promise<void> {
  if (await keepAnswer(queries, claim, { status, sealed: seal.close(body, status) })) return;
  throw new Failure("CONFLICT", "This took so long that another request with the same Idempotency-Key was let through.", { retryAfter: 1, fix: "Send it again to get the other's answer." });
}

/** A refusal is an answer like another and kept; what may go better next time frees the key. */
async function settleFailure(error: unknown, { claim, seal, needs, requestId }: { claim: Claim; seal: Seal; needs: ControlPlaneNeeds; requestId: string }): Promise<void> {
  const failure = failureOf(error);
  const passing = FAILURE_STATUS[failure.code] >= 500 || failure.code === "RATE_LIMITED" || failure.details.retryAfter !== undefined;
  const { status, body } = failureReply(failure, requestId);
  try {
    if (passing) await releaseClaim(needs.database, claim);
    else await keepAnswer(needs.database, claim, { status, sealed: seal.close(body, status) });
  } catch (reason) {
    // Without the database the claim runs out by itself.
    needs.log.warn({ requestId, err: reason }, "could not settle an Idempotency-Key");
  }
}

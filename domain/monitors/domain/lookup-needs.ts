import type { RequestNeeds } from "../../../platform/outbound/timed-request.ts";
import { describeError } from "../../../platform/outbound/describe-error.ts";
import type { Turns } from "./take-turns.ts";

/** What both ways of looking up speak through. */
export interface LookupNeeds {
  outbound: RequestNeeds;
  turns: Turns;
  /** For one question to one server, in ms. */
  timeoutMs: number;
}

/** Why a question to a server has no answer; the server asked to be left alone for `retryAfterMs`. */
export class LookupFailed extends Error {
  readonly retryAfterMs: number | null;

  constructor(sentence: string, retryAfterMs: number | null = null) {
    super(sentence);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Asks one server when it is its turn, within the time for one question. LookupFailed with a sentence for whatever goes wrong; the signal's reason when all is given up. */
export async function askServer<T>({ turns, timeoutMs }: LookupNeeds, server: { id: string; host: string }, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return turns.take(server.id, signal, async () => {
    const resting = turns.restingFor(server.id);
    if (resting > 0) throw new LookupFailed(`${server.host} answers too many questions just now.`, resting);
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      return await ask(AbortSignal.any([signal, limit]));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LookupFailed) {
        if (error.retryAfterMs !== null) turns.rest(server.id, error.retryAfterMs);
        throw error;
      }
      throw new LookupFailed(limit.aborted ? `${server.host} gave no complete answer within ${timeoutMs / 1_000} s.` : describeError(error, server.host));
    }
  });
}

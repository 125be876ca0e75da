import { decodeReplies, repliesTo } from "../schemas/messages/replies.ts";
import type { WritableLog } from "../platform/event-log/port.ts";

/** Requests that wait for a processor's result. */
export interface Replies {
  /** Reserves a number for a request; `onResult` gets the answer's body at most once. */
  expect(onResult: (body: string) => void): number;
  /** After `ms` without a result `onTimeout` is called instead, and a later result is dropped. */
  giveUpAfter(requestNumber: number, ms: number, onTimeout: () => void): void;
  forget(requestNumber: number): void;
  waiting(): number;
  stop(): Promise<void>;
}

export async function startReplies({ eventLog, edgeId }: { eventLog: WritableLog; edgeId: string }): Promise<Replies> {
  const waiting = new Map<number, { onResult: (body: string) => void; timer: NodeJS.Timeout | null }>();
  let last = 0;

  const isOurs = repliesTo(edgeId);

  const stopListening = await eventLog.listen(edgeId, (message) => {
    if (!isOurs(message)) return;
    for (const { requestNumber, body } of decodeReplies(message).results) take(requestNumber)?.onResult(body);
  });

  function take(requestNumber: number) {
    const entry = waiting.get(requestNumber);
    if (entry?.timer) clearTimeout(entry.timer);
    waiting.delete(requestNumber);
    return entry;
  }

  return {
    expect(onResult) {
      last = last === 0xffff_ffff ? 1 : last + 1;
      waiting.set(last, { onResult, timer: null });
      return last;
    },
    giveUpAfter(requestNumber, ms, onTimeout) {
      const entry = waiting.get(requestNumber);
      if (!entry) return;
      entry.timer = setTimeout(() => {
        take(requestNumber);
        onTimeout();
      }, ms);
    },
    forget: (requestNumber) => void take(requestNumber),
    waiting: () => waiting.size,
    stop: stopListening,
  };
}

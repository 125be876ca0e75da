import type { EventLog } from "../../platform/event-log/port.ts";
import type { Log } from "../../platform/log.ts";
import { encodeReplies, type RepliesMessage } from "../../schemas/messages/replies.ts";

/** Sends answers to the edges that wait, behind the consumer's back. */
export interface ReplySender {
  /** Takes the answers; they are sent to their edge after those taken before. Never waits. */
  send(edgeId: string, results: RepliesMessage["results"]): void;
  /** Answers that were given up so far, because too many waited or the log did not take them. */
  dropped(): number;
  /** Resolves when everything is sent or given up, at the latest after `ms`. */
  drain(ms: number): Promise<void>;
}

interface ReplySenderNeeds {
  eventLog: Pick<EventLog, "notify">;
  log: Log;
  limits?: ReplyLimits;
}

export interface ReplyLimits {
  /**
   * Answers that wait or are on their way, over all edges, and their bytes; above either the oldest
   * are given up.
   */
  waiting: number;
  bytes: number;
  /** Bytes of one message. Kafka's own limit for a record is 1 MB unless set. */
  messageBytes: number;
}

const REPLY_LIMITS: ReplyLimits = { waiting: 20_000, bytes: 16 * 1024 * 1024, messageBytes: 512 * 1024 };

interface Reply {
  result: RepliesMessage["results"][number];
  /** Answers are numbered in the order in which they were taken, over all edges. */
  number: number;
  bytes: number;
}

/** What an answer adds to its message beside its body, about. */
const FRAME_BYTES = 50;

/**
 * One message of an edge is on its way at a time, so its answers keep their order; what comes
 * meanwhile goes together with the next. An answer that is lost only turns a 200 into a 202: what
 * it tells of has been applied.
 */
export function makeReplySender({ eventLog, log, limits = REPLY_LIMITS }: ReplySenderNeeds): ReplySender {
  /** Those of edges with a message on its way, too; an edge without any has no entry. */
  const waiting = new Map<string, Reply[]>();
  let count = 0;
  let bytes = 0;
  let last = 0;
  let dropped = 0;
  let onIdle: (() => void)[] = [];

  function dropOldest(): void {
    let oldest: Reply[] = [];
    for (const replies of waiting.values()) if (replies[0] && replies[0].number < (oldest[0]?.number ?? Infinity)) oldest = replies;
    // Many at once: looking for the oldest edge costs more than what is lost by it.
    forget(oldest.splice(0, Math.max(1, Math.ceil(oldest.length / 10))));
  }

  function forget(replies: readonly Reply[]): void {
    if (dropped === 0) log.warn("more answers wait for their edges than can be kept; the oldest are given up");
    dropped += replies.length;
    takeOff(replies);
  }

  function takeOff(replies: readonly Reply[]): void {
    count -= replies.length;
    for (const reply of replies) bytes -= reply.bytes;
  }

  /** The next message's answers. */
  function takeMessage(replies: Reply[]): Reply[] {
    let size = 0;
    const beyond = replies.findIndex((reply, index) => (size += reply.bytes) > limits.messageBytes && index > 0);
    return replies.splice(0, beyond === -1 ? replies.length : beyond);
  }

  async function sendAll(edgeId: string, replies: Reply[]): Promise<void> {
    // What one turn of the event loop takes for an edge goes together.
    await Promise.resolve();
    while (replies.length > 0) {
      const message = takeMessage(replies);
      takeOff(message);
      await eventLog.notify(edgeId, encodeReplies({ edgeId, results: message.map(({ result }) => result) })).catch((error: unknown) => {
        dropped += message.length;
        log.warn({ err: error, edgeId, answers: message.length }, "answers could not be sent to their edge");
      });
    }
    waiting.delete(edgeId);
    if (waiting.size > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  return {
    send(edgeId, results) {
      const known = waiting.get(edgeId);
      const replies = known ?? [];
      for (const result of results) {
        const size = Buffer.byteLength(result.body) + FRAME_BYTES;
        replies.push({ result, number: ++last, bytes: size });
        count += 1;
        bytes += size;
      }
      if (!known) {
        waiting.set(edgeId, replies);
        void sendAll(edgeId, replies);
      }
      while (count > limits.waiting || bytes > limits.bytes) dropOldest();
    },
    dropped: () => dropped,
    async drain(ms) {
      if (waiting.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
      await Promise.race([new Promise<void>((resolve) => onIdle.push(resolve)), late]);
      clearTimeout(timer);
    },
  };
}

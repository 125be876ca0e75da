import type { Topic } from "../schemas/vocabulary.ts";
import type { Clock } from "../platform/clock.ts";
import { encodeFrame, entrySize, type FrameEntry } from "../platform/event-log/frame.ts";
import { LogUnavailable } from "../platform/event-log/port.ts";
import { NotTaken, type Appender } from "../platform/event-log/spooled.ts";
import type { Log } from "../platform/log.ts";

/** How an accepted request ended: in the log, on this machine's disk on its way there, refused before anything was sent, or sent without an answer. */
export type Fate = "logged" | "spooled" | "refused" | "unknown";

export interface BatcherNeeds {
  appender: Appender;
  edgeId: string;
  clock: Clock;
  log: Log;
  limits: BatcherLimits;
}

export interface BatcherLimits {
  /** A frame leaves at this age of its first entry, in ms … */
  flushAfterMs: number;
  /** … while its partition is being spooled: the disk's flush takes its time anyway, and fewer frames are sooner sent. */
  spooledFlushAfterMs: number;
  /** … or at this size, whichever comes first. */
  flushBytes: number;
  /** Bytes waiting or in flight over all partitions; above it requests are refused. */
  pendingBytes: number;
  /** How long a request may wait for durability before it is given up, in ms. */
  waitMs: number;
}

export const BATCHER_LIMITS: BatcherLimits = { flushAfterMs: 5, spooledFlushAfterMs: 20, flushBytes: 256 * 1024, pendingBytes: 64 * 1024 * 1024, waitMs: 10_000 };

export interface Batcher {
  /** Takes an entry for a partition, or says false at once when there is no room or the log is away. `onFate` is called exactly once after true. */
  add(topic: Topic, partition: number, entry: FrameEntry, onFate: (fate: Fate) => void): boolean;
  /** Why requests are refused just now, or null. */
  unready(): string | null;
  /** When the oldest entry of a topic (or of all) that waits here was received, ms since the epoch; null when none does. */
  oldestUnsentAt(topic?: Topic): number | null;
  pendingBytes(): number;
  /** Sends what is pending; resolves when nothing is left. */
  drain(): Promise<void>;
}

interface Waiting {
  entry: FrameEntry;
  onFate: (fate: Fate) => void;
  /** Monotonic ms after which the sender gets no answer any more. */
  deadline: number;
}

interface Lane {
  topic: Topic;
  partition: number;
  /** Number of the last frame made; numbers are never reused, so a resend can be told from news. */
  sequence: bigint;
  filling: Waiting[];
  fillingBytes: number;
  inFlight: Waiting[];
  /** When the oldest entry of the frame in flight was received; null when none is. */
  inFlightSince: number | null;
  timer: NodeJS.Timeout | null;
  sending: boolean;
  /** The last frame was spooled. */
  spooling: boolean;
}

const RETRY_MS = [50, 100, 200, 400, 800, 1_000];

/**
 * Gathers entries into frames, one lane for each partition, and appends them: one durable append for many requests. One
 * frame of a lane is in flight while the next fills. A frame that may stand in the log although its append failed is
 * resent with its number for as long as it takes: dropping it and calling its requests refused would be a lie.
 */
export function makeBatcher({ appender, edgeId, clock, log, limits }: BatcherNeeds): Batcher {
  const lanes = new Map<string, Lane>();
  let pending = 0;
  /** Set from a failed append until one succeeds; meanwhile new requests are refused instead of piling up. */
  let away: string | null = null;
  let draining: (() => void)[] = [];

  function laneOf(topic: Topic, partition: number): Lane {
    const name = `${topic}/${partition}`;
    let lane = lanes.get(name);
    if (!lane) {
      lane = { topic, partition, sequence: 0n, filling: [], fillingBytes: 0, inFlight: [], inFlightSince: null, timer: null, sending: false, spooling: false };
      lanes.set(name, lane);
    }
    return lane;
  }

  function add(topic: Topic, partition: number, entry: FrameEntry, onFate: (fate: Fate) => void): boolean {
    const size = entrySize(entry.body.byteLength);
    if (away !== null || pending + size > limits.pendingBytes) return false;
    const lane = laneOf(topic, partition);
    lane.filling.push({ entry, onFate, deadline: clock.monotonic() + limits.waitMs });
    lane.fillingBytes += size;
    pending += size;
    if (lane.sending) return true;
    startOrWait(lane);
    return true;
  }

  function startOrWait(lane: Lane): void {
    if (lane.fillingBytes >= limits.flushBytes || draining.length > 0) startSending(lane);
    else lane.timer ??= setTimeout(() => startSending(lane), lane.spooling ? limits.spooledFlushAfterMs : limits.flushAfterMs);
  }

  function startSending(lane: Lane): void {
    if (lane.timer) clearTimeout(lane.timer);
    lane.timer = null;
    if (lane.sending || lane.filling.length === 0) return;
    lane.sending = true;
    void sendAll(lane);
  }

  async function sendAll(lane: Lane): Promise<void> {
    do {
      const batch = takeFrame(lane);
      lane.inFlight = batch;
      lane.inFlightSince = batch[0]!.entry.receivedAt;
      lane.sequence += 1n;
      const frame = encodeFrame({ edgeId, sequence: lane.sequence }, batch.map(({ entry }) => entry));
      const fate = await appendUntilDecided(lane, frame, lane.inFlightSince);
      const settled = lane.inFlight;
      lane.inFlight = [];
      lane.inFlightSince = null;
      lane.spooling = fate === "spooled";
      for (const waiting of settled) finish(waiting, fate);
      for (const { entry } of batch) pending -= entrySize(entry.body.byteLength);
    } while (lane.filling.length > 0 && (!lane.spooling || lane.fillingBytes >= limits.flushBytes || draining.length > 0));
    lane.sending = false;
    if (lane.filling.length > 0) startOrWait(lane);
    if (pending === 0) {
      for (const resolve of draining) resolve();
      draining = [];
    }
  }

  /** The frame's entries: all that fit into `flushBytes`, at least one. */
  function takeFrame(lane: Lane): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { entry } of lane.filling) {
      const size = entrySize(entry.body.byteLength);
      if (count > 0 && bytes + size > limits.flushBytes) break;
      bytes += size;
      count += 1;
    }
    lane.fillingBytes -= bytes;
    return lane.filling.splice(0, count);
  }

  async function appendUntilDecided(lane: Lane, frame: Buffer, receivedAt: number): Promise<Exclude<Fate, "unknown">> {
    const { topic, partition } = lane;
    for (let attempt = 0; ; attempt++) {
      try {
        const fate = await appender.append(topic, partition, frame, receivedAt);
        if (away !== null) log.info({ topic, partition }, "frames are taken again");
        away = null;
        return fate;
      } catch (error) {
        if (error instanceof NotTaken) return "refused";
        const reason = error instanceof Error ? error.message : String(error);
        if (away === null) log.error({ topic, partition, err: reason, known: error instanceof LogUnavailable }, "append failed; the frame is resent until it is taken");
        away = reason;
        giveUpLate(lane);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]));
      }
    }
  }

  /** Those that never left are refused at once; those in flight may be in the log, so they get no answer once they are late. */
  function giveUpLate(lane: Lane): void {
    for (const waiting of lane.filling.splice(0)) {
      pending -= entrySize(waiting.entry.body.byteLength);
      finish(waiting, "refused");
    }
    lane.fillingBytes = 0;
    const now = clock.monotonic();
    for (const waiting of lane.inFlight) if (now >= waiting.deadline) finish(waiting, "unknown");
    lane.inFlight = lane.inFlight.filter((waiting) => now < waiting.deadline);
  }

  function finish(waiting: Waiting, fate: Fate): void {
    try {
      waiting.onFate(fate);
    } catch (error) {
      log.error({ err: error }, "an answer failed after its event was decided");
    }
  }

  return {
    add,
    unready: () => appender.unready() ?? away ?? (pending >= limits.pendingBytes ? "too many bytes wait for the event log" : null),
    oldestUnsentAt(topic) {
      let oldest: number | null = null;
      for (const lane of lanes.values()) {
        if (topic !== undefined && lane.topic !== topic) continue;
        const since = lane.inFlightSince ?? lane.filling[0]?.entry.receivedAt;
        if (since !== undefined && (oldest === null || since < oldest)) oldest = since;
      }
      return oldest;
    },
    pendingBytes: () => pending,
    async drain() {
      const drained = pending > 0 ? new Promise<void>((resolve) => draining.push(resolve)) : Promise.resolve();
      for (const lane of lanes.values()) startSending(lane);
      await drained;
    },
  };
}

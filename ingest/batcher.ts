import type { Topic } from "../schemas/vocabulary.ts";
import type { Clock } from "../platform/clock.ts";
import { addEntry, closeFrame, entrySize, openFrame, type FrameEntry, type OpenFrame } from "../platform/event-log/frame.ts";
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
  /** Bytes waiting or in flight over all partitions; above it requests are refused, above half of it those of a flood. */
  pendingBytes: number;
  /** How long a request may wait for durability before it is given up, in ms. */
  waitMs: number;
}

export const BATCHER_LIMITS: BatcherLimits = { flushAfterMs: 5, spooledFlushAfterMs: 20, flushBytes: 256 * 1024, pendingBytes: 64 * 1024 * 1024, waitMs: 10_000 };

export interface Batcher {
  /** Takes an entry (its body is copied) for a partition, or says false at once when there is no room or the log is away. `onFate` is called exactly once after true. */
  add(topic: Topic, partition: number, entry: FrameEntry, onFate: (fate: Fate) => void): boolean;
  /** Why requests are refused just now, or null. */
  unready(): string | null;
  /** When the oldest entry of a topic (or of all) that waits here was received, ms since the epoch; null when none does. */
  oldestUnsentAt(topic?: Topic): number | null;
  pendingBytes(): number;
  /** Sends what is pending; resolves when nothing is left. */
  drain(): Promise<void>;
}

/** A frame and who waits for it. */
interface Filling {
  frame: OpenFrame;
  bytes: number;
  /** When its oldest entry was received. */
  since: number;
  /** Entry by entry: who wants to know its fate … */
  onFates: ((fate: Fate) => void)[];
  /** … and the monotonic ms after which its sender gets no answer any more. */
  deadlines: number[];
}

interface Lane {
  topic: Topic;
  partition: number;
  /** Number of the last frame made; numbers are never reused, so a resend can be told from news. */
  sequence: bigint;
  /** Oldest first; entries are added to the last one. */
  filling: Filling[];
  fillingBytes: number;
  inFlight: Filling | null;
  /** What frames took lately: the next one's buffer is made as large. */
  usualBytes: number;
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
  const lanes = new Map<Topic, Lane[]>();
  let pending = 0;
  /** Set from a failed append until one succeeds; meanwhile new requests are refused instead of piling up. */
  let away: string | null = null;
  let draining: (() => void)[] = [];

  function laneOf(topic: Topic, partition: number): Lane {
    const known = lanes.get(topic)?.[partition];
    if (known) return known;
    const lane: Lane = { topic, partition, sequence: 0n, filling: [], fillingBytes: 0, inFlight: null, usualBytes: 4_096, timer: null, sending: false, spooling: false };
    if (!lanes.has(topic)) lanes.set(topic, []);
    lanes.get(topic)![partition] = lane;
    return lane;
  }

  function allLanes(): Lane[] {
    // Partitions without a lane are holes, which flat() leaves out.
    return [...lanes.values()].flat();
  }

  function add(topic: Topic, partition: number, entry: FrameEntry, onFate: (fate: Fate) => void): boolean {
    const size = entrySize(entry.body.byteLength);
    if (away !== null || pending + size > (topic === "beacons-overflow" ? limits.pendingBytes / 2 : limits.pendingBytes)) return false;
    const lane = laneOf(topic, partition);
    const filling = fillingFor(lane, size, entry.receivedAt);
    addEntry(filling.frame, entry);
    filling.bytes += size;
    filling.onFates.push(onFate);
    filling.deadlines.push(clock.monotonic() + limits.waitMs);
    lane.fillingBytes += size;
    pending += size;
    if (!lane.sending) startOrWait(lane);
    return true;
  }

  /** The frame that an entry of this size goes into: none is larger than `flushBytes`, unless by its only entry. */
  function fillingFor(lane: Lane, size: number, receivedAt: number): Filling {
    const last = lane.filling.at(-1);
    if (last !== undefined && last.bytes + size <= limits.flushBytes) return last;
    const filling: Filling = { frame: openFrame(edgeId, Math.max(size, lane.usualBytes)), bytes: 0, since: receivedAt, onFates: [], deadlines: [] };
    lane.filling.push(filling);
    return filling;
  }

  function startOrWait(lane: Lane): void {
    if (isFullOrHurried(lane)) return startSending(lane);
    lane.timer ??= setTimeout(() => sendTogether(lane), lane.spooling ? limits.spooledFlushAfterMs : limits.flushAfterMs);
  }

  function isFullOrHurried(lane: Lane): boolean {
    return lane.fillingBytes >= limits.flushBytes || draining.length > 0;
  }

  /** A lane that is due takes the others along: what leaves together is one request to a broker, which costs far more than a frame. */
  function sendTogether(due: Lane): void {
    startSending(due);
    if (due.spooling) return;
    for (const lane of allLanes()) if (!lane.spooling) startSending(lane);
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
      const sent = lane.filling.shift()!;
      lane.fillingBytes -= sent.bytes;
      lane.usualBytes = Math.min(limits.flushBytes, Math.max(4_096, Math.ceil((lane.usualBytes + sent.bytes * 1.5) / 2)));
      lane.inFlight = sent;
      lane.sequence += 1n;
      const fate = await appendUntilDecided(lane, closeFrame(sent.frame, lane.sequence), sent.since);
      lane.inFlight = null;
      lane.spooling = fate === "spooled";
      for (const onFate of sent.onFates) tell(onFate, fate);
      pending -= sent.bytes;
    } while (lane.filling.length > 0 && (!lane.spooling || isFullOrHurried(lane)));
    lane.sending = false;
    if (lane.filling.length > 0) startOrWait(lane);
    if (pending === 0) {
      for (const resolve of draining) resolve();
      draining = [];
    }
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
    for (const { bytes, onFates } of lane.filling.splice(0)) {
      pending -= bytes;
      for (const onFate of onFates) tell(onFate, "refused");
    }
    lane.fillingBytes = 0;
    const sent = lane.inFlight;
    if (sent === null) return;
    const now = clock.monotonic();
    // They came one after the other, so those that are late stand first.
    let late = 0;
    while (late < sent.deadlines.length && now >= sent.deadlines[late]!) late += 1;
    sent.deadlines.splice(0, late);
    for (const onFate of sent.onFates.splice(0, late)) tell(onFate, "unknown");
  }

  function tell(onFate: (fate: Fate) => void, fate: Fate): void {
    try {
      onFate(fate);
    } catch (error) {
      log.error({ err: error }, "an answer failed after its event was decided");
    }
  }

  return {
    add,
    unready: () => appender.unready() ?? away ?? (pending >= limits.pendingBytes ? "too many bytes wait for the event log" : null),
    oldestUnsentAt(topic) {
      let oldest: number | null = null;
      for (const lane of topic === undefined ? allLanes() : (lanes.get(topic) ?? [])) {
        // A partition of the topic without a lane.
        if (!lane) continue;
        const since = lane.inFlight?.since ?? lane.filling[0]?.since;
        if (since !== undefined && (oldest === null || since < oldest)) oldest = since;
      }
      return oldest;
    },
    pendingBytes: () => pending,
    async drain() {
      const drained = pending > 0 ? new Promise<void>((resolve) => draining.push(resolve)) : Promise.resolve();
      for (const lane of allLanes()) startSending(lane);
      await drained;
    },
  };
}

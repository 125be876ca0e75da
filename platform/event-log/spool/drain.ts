import { setTimeout as delay } from "node:timers/promises";
import type { Topic } from "../../../schemas/vocabulary.ts";
import type { Log } from "../../log.ts";
import type { WritableLog } from "../port.ts";
import type { SlotStore, SpoolLane } from "./store.ts";

/** Bytes of frames that go to a partition in one request. */
const BATCH_BYTES = 900 * 1024;
const PAUSES_MS = [100, 200, 400, 800, 1_000];
/** A frame waits so long for the last spooled ones before it to be sent, instead of going through the spool itself. */
const HAND_OVER_MS = 500;

export interface Drain {
  /** A lane may have frames to send; to be called after each that was written. */
  wake(lane: SpoolLane): void;
  /**
   * Resolves at once unless the lane will soon be empty; then when it is, or when it is not getting there. Under constant load
   * a lane would otherwise never be empty: the next frame is being written while the last is being sent.
   */
  handOver(lane: SpoolLane): Promise<void>;
  /** Sends nothing more; what is unsent stays. An append under way is not waited for: whether it came through is found out by sending it again. */
  stop(): void;
}

/**
 * Sends a slot's frames, each partition by itself and in order, one request at a time. After a failure only one frame is
 * risked (half-open) until one is taken. Pauses are drawn at random, so that many edges do not come back in one moment.
 */
export function makeDrain({ slot, eventLog, log, onEmpty }: { slot: SlotStore; eventLog: WritableLog; log: Log; onEmpty(): void }): Drain {
  const stopping = new AbortController();
  const { signal } = stopping;
  const waiting = new Map<SpoolLane, () => void>();

  async function drainLane(lane: SpoolLane): Promise<void> {
    if (!lane.flowing) await pause(0);
    for (let failures = 0; !signal.aborted && slot.hasReady(lane); ) {
      const frames = slot.read(lane, lane.flowing ? BATCH_BYTES : 0);
      const error = frames.length === 0 ? await nextTurn() : await send(lane, frames);
      if (signal.aborted) return;
      if (error === null) {
        failures = 0;
        continue;
      }
      log[failures === 0 ? "warn" : "debug"]({ topic: lane.topic, partition: lane.partition, err: error.message }, "a spooled frame could not be sent; it is tried again");
      lane.flowing = false;
      tell(lane);
      await pause(failures++);
    }
    // In the same turn as the loop's last look: a frame written right after it wakes the lane anew.
    lane.draining = false;
    if (signal.aborted || !slot.isEmpty(lane)) return;
    lane.flowing = false;
    tell(lane);
    if (slot.lanes.every(slot.isEmpty)) onEmpty();
  }

  /** Null once the log has the frames, else why not. */
  async function send(lane: SpoolLane, frames: Buffer[]): Promise<Error | null> {
    const { topic, partition } = lane;
    try {
      await appendInOrder(eventLog, topic, partition, frames);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    if (signal.aborted) return null;
    if (!lane.flowing) log.info({ topic, partition, frames: slot.frames(lane) }, "the event log takes spooled frames");
    lane.flowing = true;
    slot.noteSent(lane, frames);
    return null;
  }

  function tell(lane: SpoolLane): void {
    waiting.get(lane)?.();
    waiting.delete(lane);
  }

  async function pause(failures: number): Promise<void> {
    const longest = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]!;
    await delay(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }

  return {
    wake(lane) {
      if (lane.draining || signal.aborted || !slot.hasReady(lane)) return;
      lane.draining = true;
      void drainLane(lane);
    },
    async handOver(lane) {
      if (!lane.flowing || lane.unsentBytes > BATCH_BYTES) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, HAND_OVER_MS);
        waiting.set(lane, resolve);
      });
      clearTimeout(timer);
    },
    stop() {
      stopping.abort();
      for (const lane of waiting.keys()) tell(lane);
    },
  };
}

async function appendInOrder(eventLog: WritableLog, topic: Topic, partition: number, frames: Buffer[]): Promise<void> {
  if (eventLog.appendAll) return eventLog.appendAll(topic, partition, frames);
  for (const frame of frames) await eventLog.append(topic, partition, frame);
}

function nextTurn(): Promise<null> {
  return new Promise((resolve) => setImmediate(resolve, null));
}

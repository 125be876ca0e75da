import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { WritableLog } from "../port.ts";
import { makeDrain, type Drain } from "./drain.ts";
import type { HeldSlot } from "./slots.ts";
import { openSlotStore, type SlotStore } from "./store.ts";

/** A slot that is ours, and is being sent. */
export interface OpenSlot {
  held: HeldSlot;
  store: SlotStore;
  drain: Drain;
}

export interface SlotNeeds {
  eventLog: WritableLog;
  /** Of the log's topics, at most; what a new slot is made with. */
  partitions: number;
  clock: Clock;
  log: Log;
}

/** Sends what the slot holds from before. `onEmpty` is called each time that all of it is sent. Throws StartFailure on a file that cannot be used, and lets the slot go. */
export async function openSlot({ eventLog, partitions, clock, log }: SlotNeeds, held: HeldSlot, onEmpty: () => void): Promise<OpenSlot> {
  try {
    const store = await openSlotStore({ folder: held.folder, partitions, clock, log });
    const drain = makeDrain({ slot: store, eventLog, log, onEmpty });
    for (const lane of store.lanes) drain.wake(lane);
    return { held, store, drain };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** What is unsent stays on the disk. */
export async function closeSlot({ held, store, drain }: OpenSlot, log: Log): Promise<void> {
  drain.stop();
  await store.close().catch((error: unknown) => log.error({ err: error, folder: held.folder }, "a slot of the spool did not close cleanly"));
  held.release();
}

export const isSent = ({ store }: OpenSlot): boolean => store.lanes.every(store.isEmpty);
export const unsentBytes = ({ store }: OpenSlot): number => store.lanes.reduce((sum, lane) => sum + lane.unsentBytes, 0);
export const unsentFrames = ({ store }: OpenSlot): number => store.lanes.reduce((sum, lane) => sum + store.frames(lane), 0);

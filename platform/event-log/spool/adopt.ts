import { setTimeout as delay } from "node:timers/promises";
import { closeSlot, openSlot, unsentFrames, type OpenSlot, type SlotNeeds } from "./open-slot.ts";
import { listSlots, takeSlot, type HeldSlot } from "./slots.ts";
import { hasFile } from "./store.ts";

export interface Adopter {
  slots(): OpenSlot[];
  /** Edges whose frames were in slots that are sent by now. */
  formerEdges(): ReadonlySet<string>;
  stop(): Promise<void>;
}

interface AdopterNeeds extends SlotNeeds {
  folder: string;
  everyMs: number;
  /** Slots whose files are damaged: LMDB does not stand a second try in the same process. */
  unusable: ReadonlySet<number>;
  noteUnusable(held: HeldSlot, error: unknown): void;
}

/** Looks for slots that nobody holds and sends what is in them: their edges died, or left with something unsent. The first look is over when it resolves. */
export async function startAdopting(needs: AdopterNeeds): Promise<Adopter> {
  const { folder, everyMs, log, unusable, noteUnusable } = needs;
  const adopted = new Map<number, OpenSlot>();
  const former = new Set<string>();
  const stopping = new AbortController();
  const { signal } = stopping;

  async function look(): Promise<void> {
    for (const number of await listSlots(folder)) {
      // A slot of ours is locked like any other's.
      const held = signal.aborted || unusable.has(number) ? null : takeSlot(folder, number);
      if (!held) continue;
      if (hasFile(held.folder)) await adopt(held).catch((error: unknown) => noteUnusable(held, error));
      else held.release();
    }
  }

  async function adopt(held: HeldSlot): Promise<void> {
    const { number } = held;
    const slot = await openSlot(needs, held, () => void letGo(number));
    adopted.set(number, slot);
    const frames = unsentFrames(slot);
    if (frames === 0) await letGo(number);
    else log.info({ slot: number, frames }, "an edge that is gone left frames in the spool; they are sent");
  }

  async function letGo(number: number): Promise<void> {
    const slot = adopted.get(number)!;
    adopted.delete(number);
    for (const edgeId of slot.store.edgeIds) former.add(edgeId);
    await closeSlot(slot, log);
  }

  async function lookForever(): Promise<void> {
    while (!signal.aborted) {
      await delay(everyMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await lookOnce();
    }
  }

  const lookOnce = () => look().catch((error: unknown) => log.warn({ err: error, folder }, "could not look for orphaned slots of the spool"));
  await lookOnce();
  const looking = lookForever();
  return {
    slots: () => [...adopted.values()],
    formerEdges: () => former,
    async stop() {
      stopping.abort();
      await looking;
      await Promise.all([...adopted.values()].map((slot) => closeSlot(slot, log)));
    },
  };
}

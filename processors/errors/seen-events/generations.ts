import { REMEMBERED_MS } from "../../../domain/floods/read.ts";
import type { CuckooFilter } from "./cuckoo-filter.ts";
import {
  addToGeneration,
  closeGeneration,
  countIds,
  countRoom,
  growGeneration,
  openGeneration,
  type Generation,
  type MemoryBudget,
} from "./generation.ts";

/** Ids of one partition in generations, by when they were received. */
export interface SeenGenerations {
  /** Adds an id's hash. An id older than all generations is not added: it is not covered. */
  add(low: number, high: number, receivedAt: number): void;
  /** Says whether an id of this hash is perhaps kept. Trust "no" only for a covered moment. */
  mayContain(low: number, high: number): boolean;
  /** Says whether all ids added that were received within an hour of the moment are kept. */
  covers(receivedAt: number): boolean;
  /** Makes room for ids of a slot at once. */
  expect(slot: number, ids: number): void;
  /** Covers nothing before this slot, because its ids were not added. */
  startAt(slot: number): void;
  /** Gives all memory back. */
  clear(): void;
  size(): { bytes: number; ids: number };
}

/** A generation takes the ids of one slot. */
export const SLOT_MS = 20 * 60_000;
/** Frames of several edges come out of order by up to this much. */
const LATE_MS = 30_000;
const SPARE = 1.25;

/**
 * Makes an empty filter in generations of 20 minutes. Four cover any hour, and a fifth is kept for
 * half a minute more. A generation has room for 1.25 times the ids of the one before, at least
 * 4,096. When more come, it gets another table as large as those it has. Time is that of the ids:
 * a processor that is behind keeps the hour that it is in.
 *
 * Memory: 3.23 bytes for each id that there is room for, and never more than the budget. At 34,000
 * ids a second, all partitions together, four full generations are 527 MB, 659 MB with their spare
 * room, and 824 MB for half a minute.
 *
 * `now` bounds how new an id can be. An id from an edge whose clock is ahead counts as received
 * now, and pushes nothing out.
 */
export function makeSeenGenerations(budget: MemoryBudget, now: () => number): SeenGenerations {
  const generations = makeGenerationsBySlot(budget);
  /** When the newest id was received, and the first slot of which all ids are kept. */
  let reached = Number.NEGATIVE_INFINITY;
  let oldest = Number.NEGATIVE_INFINITY;

  function startAt(first: number): void {
    if (first <= oldest) return;
    oldest = first;
    generations.closeBefore(first);
  }

  /** Moves on to a newer id. None is newer than now. */
  function advance(receivedAt: number): void {
    const newest = Math.min(receivedAt, now());
    if (newest <= reached) return;
    reached = newest;
    startAt(oldestSlotFor(newest));
  }

  return {
    add(low, high, receivedAt) {
      if (receivedAt > reached) advance(receivedAt);
      const slot = slotOf(Math.min(receivedAt, reached));
      if (slot >= oldest) generations.add(slot, low, high);
    },
    mayContain: generations.mayContain,
    covers: (receivedAt) => Math.min(receivedAt, now()) - REMEMBERED_MS >= oldest,
    expect(slot, ids) {
      if (slot >= oldest) generations.expect(slot, ids);
    },
    startAt,
    clear: () => generations.closeBefore(Number.POSITIVE_INFINITY),
    size: generations.size,
  };
}

/** Returns the beginning of the moment's slot of 20 minutes, in ms since the epoch. */
export function slotOf(moment: number): number {
  return Math.floor(moment / SLOT_MS) * SLOT_MS;
}

/** Returns the first slot whose ids matter to those received at the moment, or shortly before. */
export function oldestSlotFor(moment: number): number {
  return slotOf(moment - REMEMBERED_MS - LATE_MS);
}

interface GenerationsBySlot extends Pick<SeenGenerations, "mayContain" | "expect" | "size"> {
  add(slot: number, low: number, high: number): void;
  closeBefore(slot: number): void;
}

function makeGenerationsBySlot(budget: MemoryBudget): GenerationsBySlot {
  const bySlot = new Map<number, Generation>();
  /** Every generation's tables, and whether one is full. */
  let tables: CuckooFilter[] = [];
  let anyFull = false;
  /** The generation that was added to last: most ids are of one. */
  let last: { slot: number; generation: Generation } | null = null;

  function listTables(): void {
    tables = [...bySlot.values()].flatMap((generation) => generation.tables);
    anyFull = [...bySlot.values()].some(({ full }) => full);
  }

  function open(slot: number, ids: number): Generation {
    const generation = openGeneration(budget, ids);
    bySlot.set(slot, generation);
    listTables();
    return generation;
  }

  function grow(generation: Generation, ids: number): void {
    growGeneration(generation, budget, ids);
    listTables();
  }

  return {
    add(slot, low, high) {
      if (last?.slot !== slot) {
        const known = bySlot.get(slot);
        last = { slot, generation: known ?? open(slot, SPARE * idsBefore(bySlot, slot)) };
      }
      const { generation } = last;
      if (addToGeneration(generation, low, high)) grow(generation, countRoom(generation));
    },
    mayContain(low, high) {
      for (let at = 0; at < tables.length; at++) if (tables[at]!.mayContain(low, high)) return true;
      return anyFull;
    },
    expect(slot, ids) {
      const known = bySlot.get(slot);
      if (!known) open(slot, ids);
      else if (!known.full && countRoom(known) < ids) grow(known, ids);
    },
    closeBefore(first) {
      for (const [slot, generation] of bySlot) {
        if (slot >= first) continue;
        closeGeneration(generation, budget);
        bySlot.delete(slot);
      }
      last = null;
      listTables();
    },
    size: () => ({
      bytes: tables.reduce((sum, table) => sum + table.bytes, 0),
      ids: tables.reduce((sum, table) => sum + table.size(), 0),
    }),
  };
}

/** Counts the ids of the newest generation before a slot. */
function idsBefore(bySlot: ReadonlyMap<number, Generation>, slot: number): number {
  const before = [...bySlot.keys()].filter((other) => other < slot);
  return before.length === 0 ? 0 : countIds(bySlot.get(Math.max(...before))!);
}

import { REMEMBERED_MS } from "../../../domain/floods/read.ts";
import { makeCuckooFilter, type CuckooFilter } from "./cuckoo-filter.ts";

/** Ids of one partition, by when they were received, as far back as an id of now may have been met. */
export interface SeenGenerations {
  /** Adds an id's hash. One received before everything that is kept is not added: nobody asks this filter about it. */
  add(low: number, high: number, receivedAt: number): void;
  /** Says whether an id of this hash is perhaps among those received within an hour of any moment that is covered. */
  mayContain(low: number, high: number): boolean;
  /** Says whether all ids added that were received within an hour of the moment are still kept. */
  covers(receivedAt: number): boolean;
  /** Makes room for ids of a slot at once. */
  expect(slot: number, ids: number): void;
  /** Covers nothing before this slot: its ids were not added. */
  startAt(slot: number): void;
  /** Gives all memory back. */
  clear(): void;
  size(): { bytes: number; ids: number };
}

/** What the filters of a process may still take, in bytes; they share it. */
export interface MemoryBudget {
  left: number;
}

export const SLOT_MS = 20 * 60_000;
/** Frames of several edges come a little out of order; an hour is counted from this much before the newest. */
const LATE_MS = 30_000;
const LEAST_IDS = 4_096;
const SPARE = 1.25;
/** A little more than it is. */
const BYTES_OF_ID = 2.2;

interface Generation {
  tables: CuckooFilter[];
  /** The budget is used up: what comes now is not added, and every answer is "perhaps". */
  full: boolean;
}

/**
 * Makes an empty filter in generations of 20 minutes: four cover any hour, a fifth is kept for half a minute more. A generation
 * has room for 1.25 times the ids of the one before, at least 4,096; when more come, it gets another table as large as those
 * it has. Time is that of the ids: a processor that is behind forgets nothing which it still needs.
 *
 * Memory: 2.15 bytes for each id that there is room for, and never more than the budget. At 34,000 ids a second, all
 * partitions together, four full generations are 351 MB, 439 MB with their spare room, and 549 MB for half a minute.
 *
 * `now` bounds how new an id can be: one from an edge whose clock is ahead counts as received now, and pushes nothing out.
 */
export function makeSeenGenerations(budget: MemoryBudget, now: () => number): SeenGenerations {
  const generations = new Map<number, Generation>();
  /** When the newest id was received, and the slot with the oldest ids that are kept. */
  let reached = Number.NEGATIVE_INFINITY;
  let oldest = Number.NEGATIVE_INFINITY;
  /** Every generation's tables, and whether one is full. */
  let all: CuckooFilter[] = [];
  let anyFull = false;
  /** The generation that was added to last: most ids are of one. */
  let lastSlot = Number.NaN;
  let last: Generation | null = null;

  function startAt(first: number): void {
    if (first <= oldest) return;
    oldest = first;
    for (const [slot, generation] of generations) if (slot < first) drop(slot, generation);
  }

  /** Moves on to a newer id; none is newer than now. */
  function advance(receivedAt: number): void {
    const newest = Math.min(receivedAt, now());
    if (newest <= reached) return;
    reached = newest;
    startAt(oldestSlotFor(newest));
  }

  function drop(slot: number, generation: Generation): void {
    for (const table of generation.tables) budget.left += table.bytes;
    generations.delete(slot);
    if (generation === last) last = null;
    listTables();
  }

  function listTables(): void {
    all = [...generations.values()].flatMap(({ tables }) => tables);
    anyFull = [...generations.values()].some(({ full }) => full);
  }

  function generationOf(slot: number): Generation {
    const known = generations.get(slot);
    if (known) return known;
    const before = [...generations.keys()].filter((other) => other < slot);
    const previous = before.length === 0 ? undefined : generations.get(Math.max(...before));
    return open(slot, SPARE * (previous ? idsIn(previous) : 0));
  }

  function open(slot: number, ids: number): Generation {
    const generation: Generation = { tables: [], full: false };
    generations.set(slot, generation);
    grow(generation, Math.max(LEAST_IDS, ids));
    return generation;
  }

  function grow(generation: Generation, ids: number): void {
    if (ids * BYTES_OF_ID > budget.left) generation.full = true;
    else {
      const table = makeCuckooFilter(ids);
      budget.left -= table.bytes;
      generation.tables.push(table);
    }
    listTables();
  }

  function addTo(generation: Generation, low: number, high: number): void {
    const { tables } = generation;
    if (generation.full) return;
    for (let at = 0; at < tables.length - 1; at++) if (tables[at]!.mayContain(low, high)) return;
    const newest = tables.at(-1)!;
    newest.add(low, high);
    if (newest.size() > newest.capacity) grow(generation, capacityOf(generation));
  }

  return {
    add(low, high, receivedAt) {
      if (receivedAt > reached) advance(receivedAt);
      const slot = slotOf(Math.min(receivedAt, reached));
      if (slot < oldest) return;
      if (slot !== lastSlot || last === null) {
        last = generationOf(slot);
        lastSlot = slot;
      }
      addTo(last, low, high);
    },
    mayContain(low, high) {
      for (let at = 0; at < all.length; at++) if (all[at]!.mayContain(low, high)) return true;
      return anyFull;
    },
    covers: (receivedAt) => Math.min(receivedAt, now()) - REMEMBERED_MS >= oldest,
    expect(slot, ids) {
      if (slot < oldest) return;
      const known = generations.get(slot);
      if (!known) open(slot, ids);
      else if (!known.full && capacityOf(known) < ids) grow(known, ids);
    },
    startAt,
    clear() {
      for (const [slot, generation] of generations) drop(slot, generation);
    },
    size: () => ({
      bytes: all.reduce((sum, table) => sum + table.bytes, 0),
      ids: all.reduce((sum, table) => sum + table.size(), 0),
    }),
  };
}

/** Returns the beginning of the moment's slot of 20 minutes, in ms since the epoch. */
export function slotOf(moment: number): number {
  return Math.floor(moment / SLOT_MS) * SLOT_MS;
}

/** Returns the first slot of which ids matter to those received at the moment, or shortly before. */
export function oldestSlotFor(moment: number): number {
  return slotOf(moment - REMEMBERED_MS - LATE_MS);
}

const idsIn = ({ tables }: Generation): number => tables.reduce((sum, table) => sum + table.size(), 0);
const capacityOf = ({ tables }: Generation): number => tables.reduce((sum, table) => sum + table.capacity, 0);

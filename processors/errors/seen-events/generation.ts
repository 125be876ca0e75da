import { makeCuckooFilter, type CuckooFilter } from "./cuckoo-filter.ts";

/** Ids that were received within one slot of 20 minutes. */
export interface Generation {
  tables: CuckooFilter[];
  /** The budget is used up: ids are no longer added, and every answer is "perhaps". */
  full: boolean;
}

/** What the filters of a process may still take, in bytes. They share it. */
export interface MemoryBudget {
  left: number;
}

const LEAST_IDS = 4_096;
/** A little more than it is. */
const BYTES_OF_ID = 3.3;

/** Opens a generation with room for so many ids, at least 4,096. */
export function openGeneration(budget: MemoryBudget, ids: number): Generation {
  const generation: Generation = { tables: [], full: false };
  growGeneration(generation, budget, Math.max(LEAST_IDS, ids));
  return generation;
}

/** Adds room for so many ids. Marks the generation as full when the budget does not allow it. */
export function growGeneration(generation: Generation, budget: MemoryBudget, ids: number): void {
  if (ids * BYTES_OF_ID > budget.left) {
    generation.full = true;
    return;
  }
  const table = makeCuckooFilter(ids);
  budget.left -= table.bytes;
  generation.tables.push(table);
}

/** Adds an id's hash. Returns true when the last table has no room for more. */
export function addToGeneration({ tables, full }: Generation, low: number, high: number): boolean {
  if (full) return false;
  const newest = tables.length - 1;
  for (let at = 0; at < newest; at++) if (tables[at]!.mayContain(low, high)) return false;
  const table = tables[newest]!;
  table.add(low, high);
  return table.size() > table.capacity;
}

/** Gives a generation's memory back to the budget. */
export function closeGeneration({ tables }: Generation, budget: MemoryBudget): void {
  for (const { bytes } of tables) budget.left += bytes;
}

/** Counts the ids that a generation holds. */
export function countIds({ tables }: Generation): number {
  return tables.reduce((sum, table) => sum + table.size(), 0);
}

/** Counts the ids that a generation has room for. */
export function countRoom({ tables }: Generation): number {
  return tables.reduce((sum, table) => sum + table.capacity, 0);
}

import { availableParallelism, totalmem } from "node:os";
import type { Role } from "../schemas/vocabulary.ts";

/** What a process has to work with, and what it has to do. */
interface Machine {
  roles: readonly Role[];
  cores: number;
  /** Bytes of memory. */
  memory: number;
}

/**
 * On fewer cores nothing is gained: measured on two, a process with all roles took in as much with
 * the edge on a thread of its own as without, and needed 50 MB more.
 */
const FROM_CORES = 4;
const FROM_BYTES = 4 * 1024 ** 3;

/** Pure: how many threads take events in, where the settings leave it open. */
export function chooseEdgeThreads({ roles, cores, memory }: Machine): number {
  const hasOthers = roles.some((role) => role !== "edge");
  return hasOthers && cores >= FROM_CORES && memory >= FROM_BYTES ? 1 : 0;
}

/** The cores and the memory that this process may use. */
export function ownMachine(): Omit<Machine, "roles"> {
  // 0, or a number beyond the machine's, where nothing limits the process.
  const limit = process.constrainedMemory();
  return { cores: availableParallelism(), memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem() };
}

import type { MessagePort } from "node:worker_threads";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";
import { makePlaces } from "./places.ts";
import { LOADER_ARGUMENTS } from "./root.ts";

/** Worker threads that all run one function. */
export interface WorkerPool<Task, Result> {
  /** Runs the function on a thread; rejects with what it threw, or with WorkerLost. A lost thread is replaced. `ports` that the task holds go along. */
  run(task: Task, ports?: MessagePort[]): Promise<Result>;
  close(): Promise<void>;
}

/** The thread died under the task, or hung and was ended: the task may do the same to the next thread. */
export class WorkerLost extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = "WorkerLost";
  }
}

interface WorkerPoolOptions {
  /** The module (see `moduleFile`) … */
  file: string;
  /** … and the function that it exports. */
  name: string;
  threads: number;
  /** Threads that are kept although there is nothing to do; one unless given. */
  kept?: 0 | 1;
  /** A task that runs longer, in ms, is taken for hung and its thread is ended. Waiting for a free thread does not count. */
  deadlineMs?: number;
}

export function startWorkerPool<Task, Result>({ file, name, threads, kept = 1, deadlineMs = 30_000 }: WorkerPoolOptions): WorkerPool<Task, Result> {
  const pool = new Piscina<Task, Result>({
    filename: file,
    name,
    minThreads: kept,
    maxThreads: threads,
    idleTimeout: 60_000,
    execArgv: LOADER_ARGUMENTS,
  });
  // A thread that dies without a task is replaced as well; without a listener it would end the process.
  pool.on("error", () => undefined);
  // Piscina counts a task's time from when it was given: behind a hung one, its neighbours would be taken for hung too.
  const places = makePlaces(threads);

  return {
    async run(task, ports) {
      const done = await places.take();
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        return await pool.run(task, ports ? { signal, transferList: ports } : { signal });
      } catch (error) {
        if (signal.aborted) throw new WorkerLost(`it kept a worker thread busy for ${deadlineMs} ms and was ended`, error);
        if (isDeath(error)) throw new WorkerLost(`its worker thread died: ${error.message}`, error);
        throw error;
      } finally {
        done();
      }
    },
    close: () => pool.close(),
  };
}

/** By piscina's sentence, for it gives no code; and Node's for a thread without memory. */
function isDeath(error: unknown): error is Error {
  return error instanceof Error && (error.message.startsWith("worker exited with code") || (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY");
}

/** A task, or the answer of the function in the thread, with memory that goes along instead of being copied. Whoever gives it away must not use it again. */
export function handingOver<Result extends object>(result: Result, memory: readonly ArrayBuffer[]): Result {
  const marked = Object.assign(result, { [transferableSymbol]: memory, [valueSymbol]: result });
  move(marked);
  return marked;
}

import { Piscina } from "piscina";
import { LOADER_ARGUMENTS } from "./root.ts";

/** Worker threads that all run one function. */
export interface WorkerPool<Task, Result> {
  /** Runs the function on a thread; rejects with what it threw, or when its thread died. A dead thread is replaced. */
  run(task: Task): Promise<Result>;
  close(): Promise<void>;
}

/** A task that takes longer than this is taken for hung: its thread is ended and the task rejects. */
const DEADLINE_MS = 30_000;

/** `file` is the module (see `moduleFile`), `name` the function it exports. */
export function startWorkerPool<Task, Result>({ file, name, threads }: { file: string; name: string; threads: number }): WorkerPool<Task, Result> {
  const pool = new Piscina<Task, Result>({
    filename: file,
    name,
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: 60_000,
    execArgv: LOADER_ARGUMENTS,
  });
  return {
    run: (task) => pool.run(task, { signal: AbortSignal.timeout(DEADLINE_MS) }),
    close: () => pool.close(),
  };
}

import { fork, type ChildProcess } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import type { BuiltIndex } from "../domain/source-maps/build-index.ts";
import type { Log } from "../platform/log.ts";
import { makePlaces } from "../platform/places.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../platform/root.ts";
import type { IndexAnswer, IndexRequest } from "./source-map-process.ts";

const DEADLINE_MS = 120_000;
const MEMORY_MIB = 1_536;
/** Builds upload many maps in a row; then nothing for hours. */
const IDLE_MS = 30_000;

export interface SourceMapIndexing {
  /** Reads a map from its file and turns it into an index. */
  indexFile(path: string): Promise<BuiltIndex>;
  close(): void;
}

/**
 * Maps are read in a process of their own, one at a time: a large one takes seconds and gigabytes, and sources that were made for it
 * bring the native parser down with its process. It gets no settings, so there is no secret in it.
 */
export function startSourceMapIndexing(log: Log): SourceMapIndexing {
  const places = makePlaces(1);
  let child: ChildProcess | null = null;
  let idle: NodeJS.Timeout | undefined;

  function start(): ChildProcess {
    const { PATH, TMPDIR, LANG, NODE_ENV } = process.env;
    const started = fork(moduleFile("./source-map-process.ts", import.meta.url), [], {
      execArgv: [...LOADER_ARGUMENTS, `--max-old-space-size=${MEMORY_MIB}`],
      env: { PATH, TMPDIR, LANG, NODE_ENV },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.once("exit", () => {
      if (child === started) child = null;
    });
    // Whoever waits for an answer hears of it by `exit`.
    started.on("error", (error) => log.warn({ err: error }, "the process that reads source maps failed"));
    return started;
  }

  async function ask(request: IndexRequest): Promise<IndexAnswer> {
    const asked = (child ??= start());
    let ended = (_how: string): void => undefined;
    const answered = new Promise<IndexAnswer>((resolve) => {
      asked.once("message", (message) => resolve(message as IndexAnswer));
      ended = (how) => {
        log.warn({ how }, "a source map ended the process that read it");
        resolve({ kind: "invalid", reason: `The map cannot be read within ${DEADLINE_MS / 1_000} s and ${MEMORY_MIB} MiB of memory.` });
      };
    });
    const onExit = (code: number | null, signal: string | null): void => ended(signal ?? `exit code ${code}`);
    asked.once("exit", onExit);
    const deadline = setTimeout(() => asked.kill("SIGKILL"), DEADLINE_MS);
    asked.send(request, (error) => error && asked.kill("SIGKILL"));
    const answer = await answered;
    clearTimeout(deadline);
    asked.removeAllListeners("message").off("exit", onExit);
    return answer;
  }

  /** Whoever comes right after gets a new one, not one that is about to end. */
  function end(): void {
    clearTimeout(idle);
    child?.kill("SIGKILL");
    child = null;
  }

  return {
    async indexFile(mapPath) {
      const done = await places.take();
      clearTimeout(idle);
      const indexPath = `${mapPath}.index`;
      try {
        const answer = await ask({ mapPath, indexPath });
        return answer.kind === "index" ? { ...answer, index: await readFile(indexPath) } : answer;
      } finally {
        await rm(indexPath, { force: true });
        idle = setTimeout(end, IDLE_MS).unref();
        done();
      }
    },
    close: end,
  };
}

import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import type { BuiltIndex } from "../domain/source-maps/build-index.ts";
import type { IndexFile } from "../domain/source-maps/upload.ts";
import { makeFairTurns, TooManyWait } from "../platform/fair-turns.ts";
import { Failure } from "../platform/failures.ts";
import type { Log } from "../platform/log.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../platform/root.ts";
import type { IndexAnswer, IndexRequest } from "./source-map-process.ts";
import { watchMemory } from "./watch-memory.ts";

/** A map of 50 MB takes some ten seconds where sources are dense. */
const DEADLINE_MS = 60_000;
/** Of V8's heap. */
const HEAP_MIB = 1_536;
/** With what the native parser and the index take; the largest map that is taken needs 2,200. */
const MEMORY_MIB = 2_560;
/** Builds upload many maps in a row; then nothing for hours. */
const IDLE_MS = 30_000;
/** The uploading tools send four at a time. */
const WAITING_PER_ORGANIZATION = 20;
const WAITING = 200;
const RETRY_AFTER_S = 30;

/** How far one map may go. */
interface IndexingLimits {
  deadlineMs: number;
  memoryMib: number;
}

export interface SourceMapIndexing {
  indexFile: IndexFile;
  close(): void;
}

/**
 * Maps are read in a process of their own, one at a time: a large one takes seconds and gigabytes, and sources that were made for it
 * bring the native parser down with its process. It gets no settings, so there is no secret in it. The next map is one of the organization
 * whose maps took the least time so far. A map that takes too long or too much memory is refused; its process ends, and the next map has a new one.
 */
export function startSourceMapIndexing(log: Log, { deadlineMs, memoryMib }: IndexingLimits = { deadlineMs: DEADLINE_MS, memoryMib: MEMORY_MIB }): SourceMapIndexing {
  const turns = makeFairTurns({ perOwner: WAITING_PER_ORGANIZATION, overall: WAITING });
  let child: ChildProcess | null = null;
  let idle: NodeJS.Timeout | undefined;

  function start(): ChildProcess {
    const { PATH, TMPDIR, LANG, NODE_ENV } = process.env;
    const started = fork(moduleFile("./source-map-process.ts", import.meta.url), [], {
      execArgv: [...LOADER_ARGUMENTS, `--max-old-space-size=${HEAP_MIB}`],
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
    let reason = "The map brought down the process that read it: mostly it needs too much memory, or its sources cannot be parsed.";
    let ended = (_how: string): void => undefined;
    const answered = new Promise<IndexAnswer>((resolve) => {
      asked.once("message", (message) => resolve(message as IndexAnswer));
      ended = (how) => {
        log.warn({ how, reason }, "a source map ended the process that read it");
        resolve({ kind: "invalid", reason, fix: "Build the script in smaller parts, or its map without `sourcesContent`." });
      };
    });
    const giveUp = (why: string): void => {
      reason = why;
      // The next map shall not be given to a process that is about to end.
      if (child === asked) child = null;
      asked.kill("SIGKILL");
    };
    const onExit = (code: number | null, signal: string | null): void => ended(signal ?? `exit code ${code}`);
    asked.once("exit", onExit);
    const deadline = setTimeout(() => giveUp(`Reading the map takes more than ${deadlineMs / 1_000} s, the most that one map may take.`), deadlineMs);
    const watch = watchMemory(asked.pid, memoryMib, () => giveUp(`Reading the map takes more than ${memoryMib} MiB of memory, the most that one map may take.`));
    asked.send(request, (error) => error && asked.kill("SIGKILL"));
    const answer = await answered;
    clearTimeout(deadline);
    watch.stop();
    asked.removeAllListeners("message").off("exit", onExit);
    return answer;
  }

  /** Whoever comes right after gets a new one, not one that is about to end. */
  function end(): void {
    clearTimeout(idle);
    child?.kill("SIGKILL");
    child = null;
  }

  async function index(mapPath: string): Promise<BuiltIndex> {
    const indexPath = `${mapPath}.index`;
    try {
      const answer = await ask({ mapPath, indexPath });
      return answer.kind === "index" ? { ...answer, index: await readFile(indexPath) } : answer;
    } finally {
      await rm(indexPath, { force: true });
    }
  }

  return {
    async indexFile(organizationId, mapPath) {
      const done = await turns.take(organizationId).catch(refuse);
      clearTimeout(idle);
      try {
        // An upload goes from the disk when its client hangs up.
        if (!existsSync(mapPath)) throw new Failure("INVALID_REQUEST", "The upload was given up by its client.");
        return await index(mapPath);
      } finally {
        idle = setTimeout(end, IDLE_MS).unref();
        done();
      }
    },
    close: end,
  };
}

function refuse(error: unknown): never {
  if (!(error instanceof TooManyWait)) throw error;
  const again = { retryAfter: RETRY_AFTER_S, fix: "Upload it again after the seconds in Retry-After, fewer at a time." };
  if (error.of === "owner") throw new Failure("RATE_LIMITED", `${WAITING_PER_ORGANIZATION} source maps of this organization wait to be read already.`, again);
  throw new Failure("UNAVAILABLE", `${WAITING} source maps wait to be read already.`, again);
}

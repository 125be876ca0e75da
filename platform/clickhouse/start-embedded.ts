import { fork, type ChildProcess } from "node:child_process";
import type { Log } from "../log.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { PASSWORD_VARIABLE } from "./embedded/password-variable.ts";
import type { EmbeddedMessage } from "./serve-embedded.ts";

export interface EmbeddedClickHouse {
  /** For `openClickHouse`, with user, password and the database `pharos`. */
  url: string;
  pid: number;
  /** Lets running statements end, then ends the engine. */
  stop(): Promise<void>;
  /** Ends the engine at once; what was confirmed is on disk. */
  abandon(): void;
  /** Resolves, with the reason as a sentence, when the process has ended for whatever reason. */
  exited: Promise<string>;
}

interface StartOptions {
  folder: string;
  log: Log;
  /** How long a predecessor, whose Pharos was killed, may take to finish its statements and let go of the folder. */
  lockWaitMs?: number;
  /** For `default`; a random one unless given. */
  password?: string;
}

const STOP_MS = 9_000;
/** Opening takes 0.3 s, but a predecessor may hold the folder, and much data takes long to load. */
const START_MS = 120_000;

/** Starts the embedded ClickHouse on a folder of its own. Throws a `StartFailure` when it cannot. */
export async function startEmbeddedClickHouse({ folder, log, lockWaitMs = 15_000, password }: StartOptions): Promise<EmbeddedClickHouse> {
  const { PATH, HOME, TMPDIR, LANG, NODE_ENV } = process.env;
  const child = fork(moduleFile("./serve-embedded.ts", import.meta.url), [folder, String(lockWaitMs)], {
    execArgv: LOADER_ARGUMENTS,
    // Each statement holds one of libuv's threads while it runs, and files need some too.
    env: { PATH, HOME, TMPDIR, LANG, NODE_ENV, TZ: "UTC", UV_THREADPOOL_SIZE: "24", ...(password && { [PASSWORD_VARIABLE]: password }) },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const lastLines = keepLastLines(child);
  const exited = new Promise<string>((resolve) => child.once("exit", (code, signal) => resolve(`The embedded ClickHouse ended ${signal ? `by ${signal}` : `with code ${code}`}.`)));
  const message = await firstMessage(child, exited);
  if (message.kind === "failed") throw failureOf(message, folder, lastLines());
  log.debug({ pid: child.pid, port: message.port }, "embedded ClickHouse is up");
  return {
    url: `http://default:${message.password}@127.0.0.1:${message.port}/pharos`,
    pid: child.pid!,
    exited,
    abandon: () => void child.kill("SIGKILL"),
    async stop() {
      if (child.connected) child.send("stop");
      const force = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await exited;
      clearTimeout(force);
    },
  };
}

async function firstMessage(child: ChildProcess, exited: Promise<string>): Promise<EmbeddedMessage> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<EmbeddedMessage>((resolve) => {
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve({ kind: "failed", reason: "engine", message: `it did not answer within ${START_MS / 1000} s` });
    }, START_MS);
  });
  const told = new Promise<EmbeddedMessage>((resolve) => child.once("message", (message) => resolve(message as EmbeddedMessage)));
  const ended = exited.then((sentence): EmbeddedMessage => ({ kind: "failed", reason: "engine", message: sentence }));
  try {
    return await Promise.race([told, ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

function failureOf({ reason, message }: EmbeddedMessage & { kind: "failed" }, folder: string, lines: string[]): StartFailure {
  if (reason === "locked") return new StartFailure(`The ClickHouse data in ${folder} is held by another process.`, { fix: "Stop the other Pharos, or choose another PHAROS_DATA_DIR." });
  if (reason === "folder") return new StartFailure(`The ClickHouse data folder ${folder} cannot be used: ${message}.`, { fix: "Make it a folder that this user may write, or choose another PHAROS_DATA_DIR." });
  return new StartFailure(`The embedded ClickHouse cannot start on ${folder}: ${message}`, {
    fix: "If its files are damaged, restore the folder from a backup, or move it away to begin with an empty one; free the disk if it is full.",
    lines,
  });
}

/** The last lines that the child wrote to standard error. */
function keepLastLines(child: ChildProcess): () => string[] {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text = (text + chunk).slice(-8_192)));
  return () => text.split("\n").filter(Boolean).slice(-12);
}

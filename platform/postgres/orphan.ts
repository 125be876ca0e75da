import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { isAlive } from "../is-alive.ts";

/** How long a server may take for a clean stop, then for an immediate one. */
const FAST_STOP_MS = 20_000;
const IMMEDIATE_STOP_MS = 5_000;

/**
 * Ends a server that still runs on `dataFolder` after its Pharos was killed, and removes a pid file that names
 * a process of another program (PostgreSQL itself would refuse to start then, and must not be allowed to guess).
 * The caller holds the data folder's lock, so no living Pharos uses that server.
 */
export async function endOrphan(dataFolder: string, log: Log): Promise<void> {
  const pidFile = join(dataFolder, "postmaster.pid");
  const pid = readPid(pidFile);
  if (pid === null) return;
  if (!isServerOf(pid, dataFolder)) {
    if (isAlive(pid)) rmSync(pidFile, { force: true });
    return;
  }
  log.warn({ pid }, "a PostgreSQL of an earlier Pharos still runs on this data folder and is stopped");
  for (const [signal, limit] of [["SIGINT", FAST_STOP_MS], ["SIGQUIT", IMMEDIATE_STOP_MS]] as const) {
    send(pid, signal);
    for (const end = performance.now() + limit; performance.now() < end; await wait(50)) if (!isServerOf(pid, dataFolder)) return;
  }
  throw new StartFailure(`A PostgreSQL of an earlier Pharos (process ${pid}) still runs on ${dataFolder} and does not stop.`, { fix: `Stop it with \`kill -QUIT ${pid}\` and start again.` });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return;
    throw new StartFailure(`A PostgreSQL of another user (process ${pid}) still runs on this data folder.`, { fix: `Stop it as that user or as root with \`kill -INT ${pid}\` and start again.`, cause: error });
  }
}

function readPid(pidFile: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
    return Number.isInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

/** True when the process was started as `postgres -D <dataFolder>`. A zombie has no command line and counts as ended. */
function isServerOf(pid: number, dataFolder: string): boolean {
  const words = commandLine(pid);
  return basename(words[0] ?? "") === "postgres" && words.join(" ").includes(`-D ${dataFolder}`);
}

function commandLine(pid: number): string[] {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim().split(" ");
  } catch {
    return [];
  }
}

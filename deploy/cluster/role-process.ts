import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { StartFailure } from "../../platform/start-failure.ts";
import type { Role } from "../../schemas/vocabulary.ts";
import { startGuarded, type Guarded } from "./guarded.ts";

const PROGRAM = join(PROJECT_ROOT, "dist", "main.js");
const READY_MS = 60_000;

/** One process of Pharos with one role. */
export interface RoleProcess {
  /** Such as `edge-1`. */
  name: string;
  role: Role;
  /** Where it answers; kept over its restarts. */
  port: number;
  logFile: string;
  pid(): number;
  running(): boolean;
  /** Resolves with the exit code when the process that runs now has ended. */
  exited(): Promise<number>;
  signal(name: NodeJS.Signals): void;
  /** Starts it (again); resolves when it says that it is ready, else throws StartFailure. */
  start(): Promise<void>;
  /** SIGTERM, and after `limitMs` the end. */
  end(limitMs: number): Promise<void>;
}

interface RoleProcessNeeds {
  name: string;
  role: Role;
  port: number;
  logFile: string;
  env: NodeJS.ProcessEnv;
}

/** A process that is not started yet. */
export function makeRoleProcess({ name, role, port, logFile, env }: RoleProcessNeeds): RoleProcess {
  let guarded: Guarded | null = null;
  const ports = role === "edge" ? { EDGE_PORT: String(port), PORT: "0" } : { PORT: String(port), EDGE_PORT: "0" };
  return {
    name,
    role,
    port,
    logFile,
    pid: () => guarded?.pid ?? -1,
    running: () => guarded?.running() ?? false,
    exited: () => guarded?.exited ?? Promise.resolve(-1),
    signal: (signal) => guarded?.signal(signal),
    async start() {
      guarded = await startGuarded({ command: [process.execPath, PROGRAM], cwd: PROJECT_ROOT, env: { ...env, ...ports, PHAROS_ROLES: role }, logFile, orphaned: "TERM" });
      for (const deadline = performance.now() + READY_MS; !(await isReady(port)); await wait(50)) {
        if (guarded.running() && performance.now() < deadline) continue;
        throw new StartFailure(`${name} ${guarded.running() ? `is not ready after ${READY_MS / 1_000} s` : "ended while starting"}.`, { fix: `Its output is in ${logFile}.`, lines: lastLines(logFile) });
      }
    },
    end: async (limitMs) => guarded?.end("SIGTERM", limitMs),
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

function lastLines(logFile: string): string[] {
  try {
    return readFileSync(logFile, "utf8").trim().split("\n").slice(-8);
  } catch {
    return [];
  }
}

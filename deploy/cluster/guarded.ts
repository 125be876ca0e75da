import { spawn } from "node:child_process";
import { renameSync } from "node:fs";

/** A program that ends with this process, whatever ends that. */
export interface Guarded {
  pid: number;
  /** Resolves with its exit code, or 128 and the signal's number. */
  exited: Promise<number>;
  running(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Asks it to end; after `limitMs` ends it at once. Resolves when it has ended. */
  end(name: NodeJS.Signals, limitMs: number): Promise<void>;
}

interface GuardedNeeds {
  command: readonly [string, ...string[]];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** What it prints; the file of the start before is kept as `.old`. */
  logFile: string;
  /** What it gets when this process has died. */
  orphaned: "TERM" | "KILL";
}

/**
 * The program runs under a shell that sends it a signal when the shell's standard input closes: the system closes it when this
 * process ends, by kill -9 too, where no handler of ours would run.
 */
const GUARD = `exec 3<&0
"$@" </dev/null >"$LOG_FILE" 2>&1 3<&- & child=$!
echo $child
{ read -r _; kill -s "$ORPHANED" $child; } <&3 >/dev/null 2>&1 & reader=$!
exec 3<&- >/dev/null
wait $child; code=$?
kill $reader 2>/dev/null
exit $code`;

/** Rejects when the program cannot be run. */
export async function startGuarded({ command, cwd, env, logFile, orphaned }: GuardedNeeds): Promise<Guarded> {
  try {
    renameSync(logFile, `${logFile}.old`);
  } catch {
    // There was no start before.
  }
  // A session of its own: Ctrl-C in a terminal is for the launcher, which ends everything in its order.
  const guard = spawn("sh", ["-c", GUARD, "guard", ...command], { cwd, env: { ...env, LOG_FILE: logFile, ORPHANED: orphaned }, detached: true, stdio: ["pipe", "pipe", "ignore"] });
  let running = true;
  const exited = new Promise<number>((resolve) => guard.once("exit", (code) => resolve(code ?? -1))).finally(() => (running = false));
  const pid = await new Promise<number>((resolve, reject) => {
    guard.once("error", reject);
    guard.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString())));
  });
  const signal = (name: NodeJS.Signals): void => {
    // Until the guard has ended it has not waited for its child, so the number is still that child's.
    if (running) kill(pid, name);
  };
  return {
    pid,
    exited,
    running: () => running,
    signal,
    async end(name, limitMs) {
      signal(name);
      const limit = setTimeout(() => signal("SIGKILL"), limitMs);
      await exited;
      clearTimeout(limit);
    },
  };
}

function kill(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

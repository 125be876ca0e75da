import { readFile } from "node:fs/promises";

const EVERY_MS = 200;

/**
 * Calls `over` once when a process holds more than so many MiB, with what native code of it holds. Looks where Linux tells it; elsewhere it
 * does nothing, and the limit of V8's heap is the only one.
 */
export function watchMemory(pid: number | undefined, limitMib: number, over: () => void): { stop(): void } {
  const timer = setInterval(() => void look(), EVERY_MS);
  let stopped = false;

  async function look(): Promise<void> {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    if (stopped || kibibytes <= limitMib * 1_024) return;
    stop();
    over();
  }

  function stop(): void {
    stopped = true;
    clearInterval(timer);
  }
  return { stop };
}

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "../platform/is-alive.ts";

/**
 * A folder of this run for one store. A run that was killed leaves its own (the store in it ends by itself); the run's process
 * id is in the name, so the next run removes it here.
 */
export async function makeRunFolder(store: string): Promise<string> {
  const prefix = `pharos-test-${store}-`;
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
}

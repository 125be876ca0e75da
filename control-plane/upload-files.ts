import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../platform/ids.ts";
import { isAlive } from "../platform/is-alive.ts";

/** Longer than an upload can take to arrive and to wait for its turn. */
const OLD_MS = 86_400_000;

/** Where an upload lies until its request is over; the name tells whose it is. */
export function newUploadPath(): string {
  return join(tmpdir(), `pharos-upload-${process.pid}-${newId()}`);
}

/**
 * Removes what uploads of processes that were killed have left, before this process takes any: files of this user whose process is gone, or that
 * are more than a day old. What cannot be removed stays.
 */
export async function removeOldUploads(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  await Promise.all(names.filter((name) => name.startsWith("pharos-upload-")).map((name) => removeIfOld(join(tmpdir(), name)).catch(() => undefined)));
}

async function removeIfOld(path: string): Promise<void> {
  const { uid, mtimeMs } = await stat(path);
  if (uid !== process.getuid?.()) return;
  const pid = Number(/pharos-upload-(\d+)-/.exec(path)?.[1] ?? Number.NaN);
  // In a container the process before had our own number. Names without one are of an older version.
  const begun = Date.now() - process.uptime() * 1_000;
  const left = pid === process.pid ? mtimeMs < begun : !Number.isNaN(pid) && !isAlive(pid);
  if (left || mtimeMs < Date.now() - OLD_MS) await rm(path, { force: true });
}

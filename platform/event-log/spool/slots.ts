import { closeSync, mkdirSync, openSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { tryLockFile } from "../../file-lock.ts";

/** A numbered folder below the spool that this edge alone may use, until it lets go or dies. */
export interface HeldSlot {
  readonly number: number;
  readonly folder: string;
  release(): void;
}

/** Takes a slot, made when it is missing; null when another edge has it. Throws the system's error when the folder cannot be used. */
export function takeSlot(spoolFolder: string, number: number): HeldSlot | null {
  const folder = join(spoolFolder, String(number));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The lock file is never removed: two edges could then hold locks on two files of the same name.
  const fd = openSync(join(folder, "lock"), "a+", 0o600);
  if (!tryLockFile(fd)) {
    closeSync(fd);
    return null;
  }
  let held = true;
  return {
    number,
    folder,
    release() {
      if (held) closeSync(fd);
      held = false;
    },
  };
}

/** The free slot with the lowest number. */
export function takeFreeSlot(spoolFolder: string, tryNext = 0): HeldSlot {
  for (let number = tryNext; ; number++) {
    const slot = takeSlot(spoolFolder, number);
    if (slot) return slot;
  }
}

export async function listSlots(spoolFolder: string): Promise<number[]> {
  const names = await readdir(spoolFolder);
  return names.filter((name) => /^\d{1,6}$/.test(name)).map(Number).sort((a, b) => a - b);
}

import { execFile } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const BLOCK = Buffer.alloc(64 * 1024);

/** A disk of its own for a fault, which can be filled up without harm to others. */
export interface SmallDisk {
  folder: string;
  /** Writes until nothing more fits. */
  fill(): void;
  /** Gives back what `fill` took. */
  free(): void;
  stop(): Promise<void>;
}

/** Mounts a tmpfs of so many MiB; throws with what is missing where this user may not mount. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-disk-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "pharos-fault", folder]);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`Fault k needs a small disk, and this user may not mount a tmpfs (it takes root): ${(error as Error).message}`, { cause: error });
  }
  const filler = join(folder, "filler");
  return {
    folder,
    fill() {
      const file = openSync(filler, "a");
      try {
        // Smaller and smaller, so that not even a page is left.
        for (let size = BLOCK.length; size > 0; ) {
          try {
            writeSync(file, BLOCK, 0, size);
          } catch {
            size >>= 1;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    async stop() {
      // Lazy: a process that is just ending may still have a file open.
      await run("umount", ["--lazy", folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { newUploadPath, removeOldUploads } from "./upload-files.ts";

const made: string[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((path) => rm(path, { force: true })));
});

async function leave(path: string, ageHours = 0): Promise<string> {
  made.push(path);
  await writeFile(path, "half a map");
  const at = Date.now() / 1_000 - ageHours * 3_600;
  await utimes(path, at, at);
  return path;
}

const named = (rest: string): string => join(tmpdir(), `pharos-upload-${rest}`);

test("what uploads of dead processes left is removed at the start, and nothing else", async () => {
  const { pid: dead } = spawnSync(process.execPath, ["-e", ""]);
  const gone = [
    await leave(named(`${dead}-a`)),
    await leave(named(`${dead}-a.index`)),
    // A process in a container that was started anew has the number of the one before.
    await leave(named(`${process.pid}-b`), 20),
    await leave(named(`${process.ppid}-c`), 25),
    await leave(named("0f8fad5b-d9cb-469f-a165-70867728950e"), 25),
  ];
  const kept = [await leave(newUploadPath()), await leave(named(`${process.ppid}-d`), 20), await leave(named("0f8fad5b-aaaa-469f-a165-70867728950e"), 20), await leave(join(tmpdir(), `other-upload-${dead}`), 25)];
  await removeOldUploads();
  expect(gone.filter((path) => existsSync(path))).toEqual([]);
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
});

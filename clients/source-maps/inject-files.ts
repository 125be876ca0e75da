import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { injectDebugId } from "./inject-debug-id.ts";

type Injected = { kind: "injected"; debugId: string; changed: boolean } | { kind: "unreadable"; reason: string };

/** Puts one debug id into a script and its map on the disk, or with `dryRun` only says which it would be. Rejects with what the file system says. */
export async function injectFiles({ scriptFile, mapFile }: { scriptFile: string; mapFile: string }, { dryRun }: { dryRun: boolean }): Promise<Injected> {
  const result = injectDebugId(await readFile(scriptFile, "latin1"), await readFile(mapFile, "utf8"));
  if (result.kind === "unreadable") return result;
  const { debugId, script, map } = result;
  if (!dryRun) {
    if (map !== null) await writeWhole(mapFile, Buffer.from(map, "utf8"));
    if (script !== null) await writeWhole(scriptFile, Buffer.from(script, "latin1"));
  }
  return { kind: "injected", debugId, changed: script !== null || map !== null };
}

/** Under another name first: whoever reads the file has the old or the new one. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const file = await realpath(path);
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    await writeFile(unfinished, bytes, { mode: (await stat(file)).mode });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

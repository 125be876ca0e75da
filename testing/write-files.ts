import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Files by their path below `folder`, which are made as they are needed. */
export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

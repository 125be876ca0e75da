import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** In the data folder's `postgres/`: how a command line reaches the embedded server of a running Pharos. Holds the password, so it is 0600. */
const FILE = "address";

export async function writeAddress(folder: string, url: string): Promise<void> {
  const path = join(folder, FILE);
  await writeFile(`${path}.new`, url, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The address that the running server was given, or null when none was written. */
export async function readAddress(folder: string): Promise<string | null> {
  return readFile(join(folder, FILE), "utf8").catch(() => null);
}

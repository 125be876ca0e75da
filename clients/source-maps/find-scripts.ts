import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { closingComments } from "./closing-comments.ts";

/** A script and its map on the disk. `path` is the script's, relative to the folder that was given, with slashes. */
export interface FoundScript {
  kind: "script";
  path: string;
  scriptFile: string;
  mapFile: string;
}

/** A script without a map, or a map without its script. `path` as above. */
export interface LeftOut {
  kind: "left out";
  path: string;
  reason: string;
}

const SCRIPT = /\.[cm]?js$/i;
const MAP = /\.map$/i;
/** Of what is no script. */
const OTHER_MAP = /\.(?:css|d\.[cm]?ts)\.map$/i;

/**
 * Every script below a folder with its map, and what has no partner, in the order of their paths; for a file, that one. With `names` only
 * these files of the folder. Folders `node_modules` and `.git` are passed over, links are followed once. Throws what the file system does.
 */
export async function findScripts(root: string, names?: string[]): Promise<(FoundScript | LeftOut)[]> {
  const isFolder = (await stat(root)).isDirectory();
  const folder = isFolder ? resolve(root) : dirname(resolve(root));
  const files = names?.map((name) => join(folder, name)) ?? (isFolder ? await filesBelow(folder, new Set()) : [resolve(root)]);
  const pathOf = (file: string): string => relative(folder, file).split(sep).join("/");
  const sorted = [...new Set(files)].toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  const found: (FoundScript | LeftOut)[] = [];
  for (const file of sorted) if (SCRIPT.test(file)) found.push({ path: pathOf(file), ...(await findMap(file)) });
  const paired = new Set(found.map((each) => (each.kind === "script" ? each.mapFile : "")));
  const lonely = sorted.filter((file) => MAP.test(file) && !OTHER_MAP.test(file) && !paired.has(file));
  return [...found, ...lonely.map((file): LeftOut => ({ kind: "left out", path: pathOf(file), reason: "no script here names this map" }))];
}

async function filesBelow(folder: string, visited: Set<string>): Promise<string[]> {
  const real = await realpath(folder);
  if (visited.has(real)) return [];
  visited.add(real);
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const target = entry.isSymbolicLink() ? await stat(path).catch(() => null) : entry;
    if (target?.isFile()) files.push(path);
    else if (target?.isDirectory() && entry.name !== "node_modules" && entry.name !== ".git") files.push(...(await filesBelow(path, visited)));
  }
  return files;
}

/** By the script's comment, else beside it. */
async function findMap(scriptFile: string): Promise<Omit<FoundScript, "path"> | Omit<LeftOut, "path">> {
  const named = closingComments(await readFile(scriptFile, "latin1")).map?.value;
  if (named?.startsWith("data:")) return { kind: "left out", reason: "its map is inline (data:); let the build write maps as files" };
  for (const mapFile of [...candidates(scriptFile, named), `${scriptFile}.map`]) {
    if (await isFile(mapFile)) return { kind: "script", scriptFile, mapFile };
  }
  const beside = `${basename(scriptFile)}.map`;
  return { kind: "left out", reason: named === undefined ? `it names no map, and there is no ${beside} beside it` : `the map it names, ${utf8(named)}, is not there, nor is ${beside} beside it` };
}

/** Decoded as an address is, then as it is written. */
function candidates(scriptFile: string, named: string | undefined): string[] {
  if (named === undefined || /^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(named)) return [];
  const path = utf8(named).replace(/[?#].*$/s, "");
  return [decoded(path), path].map((each) => resolve(dirname(scriptFile), each));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

import { rm, stat } from "node:fs/promises";
import { SOURCE_MAP_BYTES } from "../../schemas/api/source-maps.ts";
import { findScripts, type FoundScript, type LeftOut } from "./find-scripts.ts";
import { injectFiles } from "./inject-files.ts";
import { scriptUrl } from "./script-url.ts";
import { sendMap, type Target } from "./send-map.ts";

/** What became of a script, or of a map that no script names. */
export interface UploadResult {
  /** Relative to the folder that was given. */
  path: string;
  /** Where browsers get the script; null for what was left out. */
  url: string | null;
  outcome: "uploaded" | "would be uploaded" | "failed" | "skipped";
  debugId: string | null;
  /** Whether files were changed, or in a dry run would be. */
  injected: boolean;
  /** Why it failed or was skipped, as a sentence or the end of one. */
  reason: string | null;
}

interface UploadOrder {
  target: Target;
  /** Folders and files; with `names` only these of each folder. */
  roots: string[];
  names?: string[];
  /** As `urlPrefixOf` gives it. */
  urlPrefix: string;
  injectDebugIds: boolean;
  /** Nothing is sent and no file is changed. */
  dryRun: boolean;
  /** Removes each map that was uploaded. */
  deleteMaps: boolean;
}

interface UploadProgress {
  /** How many results there will be. */
  onFound?(count: number): void;
  onResult?(result: UploadResult): void;
}

const AT_ONCE = 4;

/** The key or the address is refused, which every map would meet: what was not uploaded yet is not tried. */
export class UploadRefused extends Error {}

/**
 * Finds scripts and their maps and uploads the maps, four at a time. One that fails does not stop the others. Rejects with UploadRefused, with
 * what the file system says of a folder that cannot be read, and when `signal` is aborted; files are never left half written.
 */
export async function uploadMaps(order: UploadOrder, signal: AbortSignal, { onFound, onResult }: UploadProgress = {}): Promise<UploadResult[]> {
  const found = (await Promise.all(order.roots.map((root) => findScripts(root, order.names)))).flat();
  onFound?.(found.length);
  const results: UploadResult[] = [];
  const tell = (result: UploadResult): void => {
    results.push(result);
    onResult?.(result);
  };
  for (const { path, reason } of found.filter((each): each is LeftOut => each.kind === "left out")) tell({ path, url: null, outcome: "skipped", debugId: null, injected: false, reason });
  const ready = await prepare(order, found.filter((each) => each.kind === "script"), signal, tell);
  const uploaded = await sendAll(order, ready, signal, tell);
  if (order.deleteMaps) for (const mapFile of new Set(uploaded)) await rm(mapFile, { force: true });
  return results;
}

interface Prepared extends FoundScript {
  url: string;
  debugId: string | null;
  injected: boolean;
}

/** One after another, since two scripts can have the same map. */
async function prepare(order: UploadOrder, scripts: FoundScript[], signal: AbortSignal, tell: (result: UploadResult) => void): Promise<Prepared[]> {
  const ready: Prepared[] = [];
  const urls = new Set<string>();
  for (const script of scripts) {
    signal.throwIfAborted();
    const url = scriptUrl(order.urlPrefix, script.path);
    const fail = (reason: string): void => tell({ path: script.path, url, outcome: "failed", debugId: null, injected: false, reason });
    if (urls.has(url)) {
      fail("Another script has the same address: upload their folders apart, each with its --url-prefix.");
      continue;
    }
    urls.add(url);
    const injection = await inject(script, order);
    if (injection.kind === "unreadable") fail(injection.reason);
    else ready.push({ ...script, url, debugId: injection.debugId, injected: injection.changed });
  }
  return ready;
}

async function inject(script: FoundScript, { injectDebugIds, dryRun }: UploadOrder): Promise<{ kind: "injected"; debugId: string | null; changed: boolean } | { kind: "unreadable"; reason: string }> {
  try {
    if ((await stat(script.mapFile)).size > SOURCE_MAP_BYTES) return { kind: "unreadable", reason: `The map is larger than ${SOURCE_MAP_BYTES / 1024 / 1024} MiB: build the script in smaller parts.` };
    return injectDebugIds ? await injectFiles(script, { dryRun }) : { kind: "injected", debugId: null, changed: false };
  } catch (error) {
    return { kind: "unreadable", reason: messageOf(error) };
  }
}

/** The files of the maps that were uploaded. */
async function sendAll({ target, dryRun }: UploadOrder, ready: Prepared[], signal: AbortSignal, tell: (result: UploadResult) => void): Promise<string[]> {
  const uploaded: string[] = [];
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let refusal: string | null = null;
  const waiting = ready.values();
  const sendOne = async ({ path, url, debugId, injected, mapFile }: Prepared): Promise<void> => {
    const fail = (reason: string): void => tell({ path, url, outcome: "failed", debugId, injected, reason });
    if (dryRun) return tell({ path, url, outcome: "would be uploaded", debugId, injected, reason: null });
    try {
      const sent = await sendMap(target, { file: mapFile, url }, either);
      if (sent.kind === "sent") {
        uploaded.push(mapFile);
        return tell({ path, url, outcome: "uploaded", debugId: sent.debugId, injected, reason: null });
      }
      if (!sent.fatal) return fail(sent.reason);
      refusal ??= sent.reason;
      return stop.abort();
    } catch (error) {
      signal.throwIfAborted();
      if (refusal === null) fail(messageOf(error));
    }
  };
  const worker = async (): Promise<void> => {
    for (const one of waiting) if (refusal === null) await sendOne(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (refusal !== null) throw new UploadRefused(refusal);
  return uploaded;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

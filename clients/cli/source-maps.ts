import { SingleBar } from "cli-progress";
import { StartFailure } from "../../platform/start-failure.ts";
import type { Target } from "../source-maps/send-map.ts";
import { uploadMaps, UploadRefused, type UploadResult } from "../source-maps/upload-maps.ts";

interface UploadCommand {
  target: Target;
  roots: string[];
  urlPrefix: string;
  injectDebugIds: boolean;
  dryRun: boolean;
  json: boolean;
}

/** As a shell reports a program that Ctrl+C ended. */
const INTERRUPTED = 130;

/**
 * `sourcemaps upload`: a line for each file and a summary, or with `json` a line of JSON for each file; on a terminal a bar, and lines for
 * what failed or was skipped. 0 when every map was uploaded, 1 when one failed or there was none, 130 when it was interrupted.
 */
export async function uploadSourceMapsCommand({ json, ...order }: UploadCommand): Promise<number> {
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.once("SIGINT", onInterrupt);
  const teller = json ? tellInJson() : process.stderr.isTTY ? tellByBar() : tellByLines();
  try {
    const results = await uploadMaps({ ...order, deleteMaps: false }, interrupt.signal, teller);
    teller.stop(results);
    return conclude(results, { ...order, json });
  } catch (error) {
    teller.stop([]);
    if (interrupt.signal.aborted) {
      console.error("Interrupted. What was uploaded stays; the same command uploads the rest.");
      return INTERRUPTED;
    }
    if (error instanceof UploadRefused) throw new StartFailure(error.message);
    if (error instanceof Error && "path" in error) throw new StartFailure(`${String(error.path)} cannot be read (${error.message}). Name the folder with the built scripts.`);
    throw error;
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

interface Teller {
  onFound(count: number): void;
  onResult(result: UploadResult): void;
  stop(results: UploadResult[]): void;
}

function tellInJson(): Teller {
  const print = ({ path, url, outcome, debugId, injected, reason }: UploadResult): void =>
    console.log(JSON.stringify({ path, url, outcome: outcome.replaceAll(" ", "_"), debug_id: debugId, injected, reason }));
  return { onFound: () => undefined, onResult: print, stop: () => undefined };
}

function tellByLines(): Teller {
  return { onFound: () => undefined, onResult: (result) => console.log(lineOf(result)), stop: () => undefined };
}

function tellByBar(): Teller {
  const bar = new SingleBar({ format: "[{bar}] {value} of {total}", clearOnComplete: true, hideCursor: true });
  return {
    onFound: (count) => bar.start(count, 0),
    onResult: () => bar.increment(),
    stop(results) {
      bar.stop();
      for (const result of results) if (result.reason !== null) console.log(lineOf(result));
    },
  };
}

function lineOf({ path, url, outcome, debugId, injected, reason }: UploadResult): string {
  const facts = [url !== null && url, debugId !== null && `debug id ${debugId}${injected ? ", injected" : ""}`].filter(Boolean);
  return `${path} ${outcome}${reason === null ? "" : `: ${reason}`}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`;
}

function conclude(results: UploadResult[], { target, roots, dryRun, json }: UploadCommand): number {
  const count = (outcome: UploadResult["outcome"]): number => results.filter((result) => result.outcome === outcome).length;
  const [uploaded, failed, skipped] = [count(dryRun ? "would be uploaded" : "uploaded"), count("failed"), count("skipped")];
  const print = json ? console.error : console.log;
  print(`Release ${target.release}: ${uploaded} ${dryRun ? "would be uploaded" : "uploaded"}, ${failed} failed, ${skipped} skipped.`);
  if (uploaded + failed > 0) return failed > 0 ? 1 : 0;
  console.error(`There is no script with a map in ${roots.join(", ")}: let the build write source maps as files, and name the folder it writes into.`);
  return 1;
}

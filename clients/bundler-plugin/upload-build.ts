import { urlPrefixOf } from "../source-maps/script-url.ts";
import { DEFAULT_URL, serviceUrlOf, type Target } from "../source-maps/send-map.ts";
import { uploadMaps, UploadRefused, type UploadResult } from "../source-maps/upload-maps.ts";
import { releaseOfBuild } from "./release-of-build.ts";

/** What `pharos()` takes; everything has a default or a variable of the environment. */
export interface PharosOptions {
  /** Of the Pharos that takes the maps: PHAROS_URL, else the one of this machine. */
  url?: string | undefined;
  /** PHAROS_API_KEY. Needs `monitors:write`. */
  apiKey?: string | undefined;
  /** The service whose beacons meet the scripts: PHAROS_SERVICE. */
  serviceId?: string | undefined;
  /** As the beacons name it; else the commit, by the variables of CI services or by git. */
  release?: string | undefined;
  /** Stands before each script's path; else by the bundler's public path, `~/` for one without a host. */
  urlPrefix?: string | undefined;
  /** Writes an id into each script and its map, by which they are found wherever the script is served. Default true. */
  injectDebugIds?: boolean | undefined;
  /** Sends nothing, changes nothing, says what would be done. */
  dryRun?: boolean | undefined;
  /** What goes wrong fails the build; else it is a warning. */
  failOnError?: boolean | undefined;
  /** Removes each map that was uploaded, so that it is not published. */
  deleteMaps?: boolean | undefined;
}

/** What a bundler has written. */
export interface Build {
  /** Where it wrote, absolute. */
  folder: string;
  /** Relative to it. */
  files: string[];
  /** The bundler's name for the address of that folder; undefined when it has none. */
  publicPath: string | undefined;
  /** How its source maps are switched on, as a sentence. */
  switchOn: string;
}

/** For whoever runs the build. `ok` is false when something has to be done. */
export interface Report {
  ok: boolean;
  text: string;
}

const SHOWN_FAILURES = 5;

/** Uploads the maps of one build. Never rejects: what goes wrong is in the report. */
export async function uploadBuild(options: PharosOptions, build: Build, environment: NodeJS.ProcessEnv = process.env): Promise<Report> {
  const read = readOptions(options, build, environment);
  if ("fault" in read) return { ok: false, text: `Pharos: no source map was uploaded. ${read.fault}` };
  const { injectDebugIds = true, dryRun = false, deleteMaps = false } = options;
  try {
    const order = { ...read, roots: [build.folder], names: build.files, injectDebugIds, dryRun, deleteMaps };
    return reportOf(await uploadMaps(order, new AbortController().signal), { ...build, dryRun, release: read.target.release });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, text: error instanceof UploadRefused ? `Pharos: the upload of source maps was refused. ${reason}` : `Pharos: source maps could not be uploaded: ${reason}` };
  }
}

function readOptions(options: PharosOptions, { folder, publicPath }: Build, environment: NodeJS.ProcessEnv): { target: Target; urlPrefix: string } | { fault: string } {
  const { PHAROS_URL, PHAROS_API_KEY, PHAROS_SERVICE } = environment;
  const named = options.url ?? (PHAROS_URL || DEFAULT_URL);
  const url = serviceUrlOf(named);
  if (url === null) return { fault: `${named} is no address; give url, or set PHAROS_URL, like https://pharos.example.` };
  const urlPrefix = options.urlPrefix === undefined ? prefixOfPublicPath(publicPath) : urlPrefixOf(options.urlPrefix);
  if (urlPrefix === null) return { fault: `The urlPrefix ${options.urlPrefix} is no address; write it like ~/static, for any host, or https://cdn.example/static.` };
  const release = options.release?.trim() || releaseOfBuild(environment, folder);
  if (!release) return { fault: "It is not known which release this is: give release as the beacons name it, set PHAROS_RELEASE, or build in a git repository with a commit." };
  const [apiKey, serviceId] = [options.apiKey ?? PHAROS_API_KEY, options.serviceId ?? PHAROS_SERVICE].map((text) => text?.trim());
  if (!options.dryRun && !apiKey) return { fault: "Give apiKey, or set PHAROS_API_KEY to an API key that may write monitors." };
  if (!options.dryRun && !serviceId) return { fault: "Give serviceId, or set PHAROS_SERVICE to the id of the service whose beacons meet the scripts." };
  return { target: { url, apiKey: apiKey ?? "", serviceId: serviceId ?? "", release }, urlPrefix };
}

/** `/app/` is a path on any host; `./`, `auto` and none at all are taken as the root of one. */
function prefixOfPublicPath(publicPath: string | undefined): string {
  const prefix = publicPath?.startsWith("/") && !publicPath.startsWith("//") ? `~${publicPath}` : (publicPath ?? "");
  return urlPrefixOf(prefix) ?? "~/";
}

function reportOf(results: UploadResult[], { switchOn, release, dryRun }: { switchOn: string; release: string; dryRun: boolean }): Report {
  const failed = results.filter((result) => result.outcome === "failed");
  const uploaded = results.filter((result) => result.outcome === "uploaded" || result.outcome === "would be uploaded");
  if (failed.length > 0) {
    const shown = failed.slice(0, SHOWN_FAILURES).map(({ path, reason }) => `\n  ${path}: ${reason}`);
    const more = failed.length > SHOWN_FAILURES ? `\n  and ${failed.length - SHOWN_FAILURES} more` : "";
    return { ok: false, text: `Pharos: ${failed.length} of ${failed.length + uploaded.length} source maps of release ${release} were not uploaded:${shown.join("")}${more}` };
  }
  if (uploaded.length === 0) return { ok: false, text: `Pharos: this build wrote no source map as a file, so errors will not show original code. ${switchOn}` };
  return { ok: true, text: `Pharos: ${uploaded.length} source ${uploaded.length === 1 ? "map" : "maps"} ${dryRun ? "would be uploaded" : "uploaded"} for release ${release}.` };
}

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The project's folder, from the sources as well as from `dist/`. SQL files and assets are read below it. */
export const PROJECT_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** True when running TypeScript sources (tsx, vitest): children and workers then need the loader too. */
const FROM_SOURCES = import.meta.url.endsWith(".ts");

/** Node arguments with which a child process or worker can load our modules. */
export const LOADER_ARGUMENTS: string[] = FROM_SOURCES ? ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href] : [];

/** The file of a module to run in a child or worker: `./worker.ts` beside `base`, or its compiled `.js`. */
export function moduleFile(relative: string, base: string): string {
  return fileURLToPath(new URL(FROM_SOURCES ? relative : relative.replace(/\.ts$/, ".js"), base));
}

/**
 * A line of JavaScript that runs a module as a thread's program (a Worker with `eval`). In a thread
 * the loader of sources works only when it is registered there.
 */
export function threadProgram(file: string): string {
  const program = `import(${JSON.stringify(pathToFileURL(file).href)})`;
  if (!FROM_SOURCES) return program;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm/api")).href;
  return `import(${JSON.stringify(loader.replace(/\.cjs$/, ".mjs"))}).then(({ register }) => (register(), ${program}))`;
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findRoot(dirname(folder));
}

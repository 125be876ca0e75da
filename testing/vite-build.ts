import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { build, type PluginOption } from "vite";
import { writeFiles } from "./write-files.ts";

interface ViteBuildOptions {
  /** Sources by their path in the project. Without an `index.html` the first is the entry. */
  files: Record<string, string>;
  /** In the project; `dist` unless told. */
  outDir?: string;
  plugins?: PluginOption[];
}

export interface ViteBuild {
  /** The project, with the sources. */
  folder: string;
  /** Where the bundle is. */
  outDir: string;
  /** What is there, relative to it, in the order of names. */
  emitted: string[];
  remove(): Promise<void>;
}

/** A production build by Vite in a temporary folder: minified, with hashes in the names and source maps as files. Rejects when the build fails. */
export async function buildWithVite({ files, outDir = "dist", plugins = [] }: ViteBuildOptions): Promise<ViteBuild> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-vite-"));
  await writeFiles(folder, files);
  const input = "index.html" in files ? {} : { rolldownOptions: { input: join(folder, Object.keys(files)[0]!) } };
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await build({ root: folder, configFile: false, logLevel: "silent", plugins, build: { outDir, emptyOutDir: true, sourcemap: true, minify: true, ...input } });
  } catch (error) {
    await remove();
    throw error;
  }
  const written = await readdir(join(folder, outDir), { recursive: true, withFileTypes: true });
  const emitted = written.filter((entry) => entry.isFile()).map((entry) => relative(join(folder, outDir), join(entry.parentPath, entry.name)));
  return { folder, outDir: join(folder, outDir), emitted: emitted.toSorted(), remove };
}

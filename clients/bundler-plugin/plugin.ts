import { dirname, relative, resolve } from "node:path";
import type { PluginBuild } from "esbuild";
import type { NormalizedOutputOptions, PluginContext } from "rollup";
import { createUnplugin } from "unplugin";
import type { Compiler } from "webpack";
import { uploadBuild, type Build, type PharosOptions, type Report } from "./upload-build.ts";

/** Uploads the source maps of a build when its files are written. In watch mode it does nothing: those builds are not published. */
export const plugin = createUnplugin<PharosOptions | undefined>((options = {}) => {
  let viteBase: string | undefined;
  return {
    name: "pharos",
    enforce: "post",
    rollup: { writeBundle: afterRollup(options, () => ({ publicPath: undefined, switchOn: "Set output.sourcemap to true or 'hidden'." })) },
    vite: {
      apply: "build",
      configResolved: (config) => void (viteBase = config.base),
      writeBundle: afterRollup(options, () => ({ publicPath: viteBase, switchOn: "Set build.sourcemap to true or 'hidden'." })),
    },
    webpack: (compiler) => afterWebpack(options, compiler),
    esbuild: { setup: (build) => afterEsbuild(options, build) },
  };
});

/** Vite's plugins are called as Rollup's are, with what is used here of the context and the options. */
type RollupContext = Pick<PluginContext, "warn" | "error"> & { meta: { watchMode: boolean } };
type RollupOutput = Pick<NormalizedOutputOptions, "dir" | "file">;

function afterRollup(options: PharosOptions, facts: () => Pick<Build, "publicPath" | "switchOn">) {
  return {
    // After the others, which may change files yet.
    order: "post" as const,
    sequential: true as const,
    async handler(this: RollupContext, { dir, file }: RollupOutput, bundle: object): Promise<void> {
      if (this.meta.watchMode) return;
      const folder = resolve(dir ?? dirname(file ?? ""));
      const report = await uploadBuild(options, { folder, files: Object.keys(bundle), ...facts() });
      if (report.ok) tell(report);
      else if (options.failOnError) this.error(report.text);
      else this.warn(report.text);
    },
  };
}

function afterWebpack(options: PharosOptions, compiler: Compiler): void {
  compiler.hooks.afterEmit.tapPromise({ name: "pharos", stage: Number.MAX_SAFE_INTEGER }, async (compilation) => {
    if (compiler.watchMode || compilation.errors.length > 0) return;
    const { path, publicPath } = compilation.outputOptions;
    const report = await uploadBuild(options, {
      folder: path ?? compiler.outputPath,
      files: compilation.getAssets().map(({ name }) => name.replace(/\?.*$/s, "")),
      publicPath: typeof publicPath === "string" ? publicPath : undefined,
      switchOn: "Set devtool to 'source-map' or 'hidden-source-map'.",
    });
    if (report.ok) tell(report);
    else if (options.failOnError) throw new Error(report.text);
    else compilation.warnings.push(new compiler.webpack.WebpackError(report.text));
  });
}

function afterEsbuild(options: PharosOptions, build: PluginBuild): void {
  const { absWorkingDir = process.cwd(), outdir, outfile, publicPath, write } = build.initialOptions;
  // The only way to learn what was written.
  build.initialOptions.metafile = true;
  build.onEnd(async ({ errors, metafile }) => {
    if (errors.length > 0) return {};
    if (write === false || !metafile) return { warnings: [{ text: "Pharos: this build writes no files, so no source map was uploaded. Let esbuild write them (write: true)." }] };
    const folder = resolve(absWorkingDir, outdir ?? dirname(outfile ?? ""));
    const files = Object.keys(metafile.outputs).map((path) => relative(folder, resolve(absWorkingDir, path)));
    const report = await uploadBuild(options, { folder, files, publicPath, switchOn: "Set sourcemap to true or 'external'." });
    if (!report.ok) return { [options.failOnError ? "errors" : "warnings"]: [{ text: report.text }] };
    tell(report);
    return {};
  });
}

/** Not to the output, which may be the bundle. */
function tell({ text }: Report): void {
  process.stderr.write(`${text}\n`);
}

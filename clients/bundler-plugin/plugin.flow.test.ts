import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build as buildWithEsbuild } from "esbuild";
import { rollup } from "rollup";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import webpack from "webpack";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { startTestControlPlane, type TestControlPlane } from "../../testing/control-plane.ts";
import { buildService } from "../../testing/service-process.ts";
import { buildWithVite } from "../../testing/vite-build.ts";
import { writeFiles } from "../../testing/write-files.ts";
import { pharos as forEsbuild } from "./esbuild.ts";
import { pharos as forRollup } from "./rollup.ts";
import type { PharosOptions } from "./upload-build.ts";
import { pharos as forVite } from "./vite.ts";
import { pharos as forWebpack } from "./webpack.ts";

let plane: TestControlPlane;
let url: string;
beforeAll(async () => {
  plane = await startTestControlPlane();
  url = await plane.app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => plane.stop());

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-plugin-"));
  await writeFiles(folder, { "main.js": MAIN, "pay.js": PAY });
  return () => rm(folder, { recursive: true, force: true });
});

const MAIN = `import("./pay.js").then(({ pay }) => pay(undefined));`;
const PAY = `export function pay(cart) {\n  if (!cart) throw new Error("no cart");\n  return cart.total;\n}\n`;

interface Built {
  outDir: string;
  warnings: string[];
}

interface Settings {
  maps?: boolean;
  publicPath?: string;
}

/** One build of MAIN by each bundler with the plugin: where it wrote, and of what it warned. */
const BUNDLERS: Record<string, (options: PharosOptions, settings?: Settings) => Promise<Built>> = {
  async Vite(options, { maps = true, publicPath = "/" } = {}) {
    const warnings: string[] = [];
    const settings = { name: "settings", config: () => ({ base: publicPath, build: { sourcemap: maps, rolldownOptions: { onLog: (_: string, { message }: { message: string }) => void warnings.push(message) } } }) };
    const built = await buildWithVite({ files: { "main.js": MAIN, "pay.js": PAY }, plugins: [settings, forVite(options)] });
    const outDir = join(folder, "dist");
    await writeFiles(outDir, Object.fromEntries(await Promise.all(built.emitted.map(async (name) => [name, await readFile(join(built.outDir, name), "utf8")] as const))));
    await built.remove();
    return { outDir, warnings };
  },
  async Rollup(options, { maps = true } = {}) {
    const warnings: string[] = [];
    const bundle = await rollup({ input: join(folder, "main.js"), plugins: [forRollup(options)], onwarn: ({ message }) => void warnings.push(message) });
    await bundle.write({ dir: join(folder, "dist"), sourcemap: maps, entryFileNames: "[name]-[hash].js" });
    await bundle.close();
    return { outDir: join(folder, "dist"), warnings };
  },
  async webpack(options, { maps = true, publicPath = "auto" } = {}) {
    const output = { path: join(folder, "dist"), filename: "[name].[contenthash].js", publicPath };
    const compiler = webpack({ mode: "production", context: folder, entry: "./main.js", devtool: maps ? "source-map" : false, output, plugins: [forWebpack(options)] });
    const stats = await new Promise<webpack.Stats>((resolve, reject) => compiler.run((error, result) => (error ? reject(error) : resolve(result!))));
    await new Promise((resolve) => compiler.close(resolve));
    return { outDir: join(folder, "dist"), warnings: stats.compilation.warnings.map(({ message }) => message) };
  },
  async esbuild(options, { maps = true, publicPath } = {}) {
    const { warnings } = await buildWithEsbuild({
      absWorkingDir: folder,
      entryPoints: ["main.js"],
      outdir: "dist",
      bundle: true,
      splitting: true,
      format: "esm",
      minify: true,
      logLevel: "silent",
      sourcemap: maps,
      ...(publicPath && { publicPath }),
      plugins: [forEsbuild(options)],
    });
    return { outDir: join(folder, "dist"), warnings: warnings.map(({ text }) => text) };
  },
};

const options = (release: string): PharosOptions => ({ url, apiKey: plane.organization.apiKey, serviceId: plane.organization.serviceId, release });
const list = async (release: string) => (await plane.call("GET", `/sourcemaps?release=${release}`)).body.sourcemaps as { file_url: string; debug_id: string }[];

describe.each(Object.keys(BUNDLERS))("a build by %s", (bundler) => {
  const build = BUNDLERS[bundler]!;

  it("has its maps uploaded with the ids that are in its scripts, and they tell where a place comes from", async () => {
    const release = `${bundler}-1`;
    const { outDir, warnings } = await build(options(release));
    expect(warnings).toEqual([]);
    const uploaded = await list(release);
    const scripts = (await readdir(outDir, { recursive: true })).filter((name) => name.endsWith(".js"));
    expect(uploaded.map((map) => map.file_url).toSorted()).toEqual(scripts.map((name) => `~/${name}`).toSorted());
    for (const { file_url: fileUrl, debug_id: id } of uploaded) {
      const script = await readFile(join(outDir, fileUrl.slice(2)), "utf8");
      expect([script.split("\n")[0], script]).toEqual([expect.stringContaining(id), expect.stringContaining(`//# debugId=${id}\n`)]);
      if (!script.includes("no cart")) continue;
      const lines = script.split("\n");
      const line = lines.findIndex((text) => text.includes("no cart"));
      const place = { service_id: plane.organization.serviceId, release, url: `https://shop.example${fileUrl.slice(1)}`, line: line + 1, column: lines[line]!.search(/\w*Error\(/) + 1 };
      const { body } = await plane.call("POST", "/sourcemaps/lookup", place);
      expect(body).toMatchObject({ original: { source: expect.stringMatching(/pay\.js$/) as string, line: 2, context: { line: `  if (!cart) throw new Error("no cart");` } } });
    }
  });

  it("without maps says how to switch them on, and goes on", async () => {
    const { warnings } = await build(options(`${bundler}-2`), { maps: false });
    expect(warnings).toEqual([expect.stringMatching(/wrote no source map as a file.* Set .*(?:sourcemap|devtool) to /)]);
  });

  it("fails when it is told to, and else warns", async () => {
    const refused = { ...options(`${bundler}-3`), apiKey: "psk_wrong" };
    const { warnings } = await build(refused);
    expect(warnings).toEqual([expect.stringContaining("the upload of source maps was refused. ")]);
    await expect(build({ ...refused, failOnError: true })).rejects.toThrow("the upload of source maps was refused. ");
  });
});

test("maps are removed once they are uploaded, and a dry run touches nothing", async () => {
  const maps = async (outDir: string) => (await readdir(outDir)).filter((name) => name.endsWith(".map")).length;
  const dry = await BUNDLERS["Rollup"]!({ ...options("dry"), apiKey: undefined, dryRun: true, deleteMaps: true });
  const before = await Promise.all((await readdir(dry.outDir)).map((name) => readFile(join(dry.outDir, name), "utf8")));
  expect([dry.warnings, await list("dry"), await maps(dry.outDir), before.join("").includes("debugId")]).toEqual([[], [], 2, false]);
  const { outDir } = await BUNDLERS["Rollup"]!({ ...options("removed"), injectDebugIds: false, deleteMaps: true });
  expect([(await list("removed")).map((map) => map.debug_id), await maps(outDir)]).toEqual([[null, null], 0]);
  await BUNDLERS["Rollup"]!({ ...options("kept"), apiKey: "psk_wrong", deleteMaps: true });
  expect(await maps(outDir)).toBe(2);
});

test.each([
  ["Vite", "/app/", "~/app/"],
  ["Vite", "https://cdn.example/app/", "https://cdn.example/app/"],
  ["webpack", "/app/", "~/app/"],
  ["esbuild", "//cdn.example/app", "//cdn.example/app/"],
])("%s with the public path %s has its scripts at %s", async (bundler, publicPath, prefix) => {
  const release = `${bundler} at ${prefix}`;
  await BUNDLERS[bundler]!(options(release), { publicPath });
  const urls = (await list(encodeURIComponent(release))).map((map) => map.file_url);
  expect(urls.map((each) => each.startsWith(prefix))).toEqual(urls.map(() => true));
  expect(urls.length).toBeGreaterThan(0);
});

test("the package gives each bundler its plugin", async () => {
  await buildService();
  const code = `for (const name of ["vite", "webpack", "rollup", "esbuild"]) console.log(typeof (await import("pharos/" + name)).pharos);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd: PROJECT_ROOT });
  expect(stdout).toBe("function\n".repeat(4));
});

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SourceMapGenerator } from "source-map";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startTestControlPlane, type TestControlPlane } from "../../testing/control-plane.ts";
import { buildService, COMMAND_LINE_PROGRAM } from "../../testing/service-process.ts";
import { writeFiles } from "../../testing/write-files.ts";

/** Answers a request in place of the control plane, or passes it on by returning false. */
type Front = (request: IncomingMessage, response: ServerResponse) => boolean;

let plane: TestControlPlane;
let url: string;
let front: Front;
let asked: number[];
const server = createServer((request, response) => {
  asked.push(performance.now());
  if (front(request, response)) return;
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
    const { host: _, ...headers } = request.headers;
    const passed = plane.app.inject({ method: "POST", url: request.url!, headers, payload: Buffer.concat(chunks) });
    void passed.then((answer) => response.writeHead(answer.statusCode, { "content-type": "application/json" }).end(answer.body));
  });
});

beforeAll(async () => {
  await buildService();
  plane = await startTestControlPlane();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await plane.stop();
});

let folder: string;
beforeEach(async () => {
  [front, asked] = [() => false, []];
  folder = await mkdtemp(join(tmpdir(), "pharos-upload-test-"));
  return () => rm(folder, { recursive: true, force: true });
});

const write = (files: Record<string, string>) => writeFiles(folder, files);

/** `name` and its map. */
function script(name: string): Record<string, string> {
  const generator = new SourceMapGenerator({ file: name });
  generator.addMapping({ generated: { line: 1, column: 0 }, original: { line: 3, column: 2 }, source: `${name}.ts` });
  return { [name]: `pay();\n//# sourceMappingURL=${name.split("/").at(-1)}.map\n`, [`${name}.map`]: generator.toString() };
}

function start(args: string[], environment: NodeJS.ProcessEnv = {}): { child: ChildProcess; ended: Promise<{ code: number; out: string; err: string }> } {
  // In a folder without settings: it needs none of the service's.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PHAROS_URL: url, PHAROS_API_KEY: plane.organization.apiKey, PHAROS_SERVICE: plane.organization.serviceId, ...environment };
  const child = spawn(process.execPath, [COMMAND_LINE_PROGRAM, "sourcemaps", "upload", ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const texts = [child.stdout, child.stderr].map((stream) => {
    const chunks: string[] = [];
    stream.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
    return chunks;
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number, out: texts[0]!.join(""), err: texts[1]!.join("") }));
  return { child, ended };
}

const upload = (args: string[], environment?: NodeJS.ProcessEnv) => start(args, environment).ended;
const list = async (release: string) => ((await plane.call("GET", `/sourcemaps?release=${release}`)).body.sourcemaps as { file_url: string; debug_id: string | null }[]).toSorted((a, b) => (a.file_url < b.file_url ? -1 : 1));
const contents = async () => Object.fromEntries(await Promise.all((await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map(async (entry) => [join(entry.parentPath, entry.name), await readFile(join(entry.parentPath, entry.name), "utf8")] as const)));

test("a folder is uploaded, each script under its address; what has no partner is told; a dry run changes nothing", async () => {
  await write({ ...script("dist/app.js"), ...script("dist/a b/ü.mjs"), "dist/vendor.js": "1", "dist/inline.js": "1\n//# sourceMappingURL=data:,{}" });
  const before = await contents();
  const dry = await upload(["--release", "1", "--url-prefix", `${process.env.HOME}/static`, "--inject-debug-ids", "--dry-run", "dist"], { PHAROS_API_KEY: "" });
  expect(dry).toMatchObject({ code: 0, err: "", out: expect.stringContaining("Release 1: 2 would be uploaded, 0 failed, 2 skipped.") as string });
  expect(dry.out).toMatch(/^app\.js would be uploaded \(~\/static\/app\.js; debug id [0-9a-f-]{36}, injected\)$/m);
  expect([asked, await contents()]).toEqual([[], before]);
  const { code, out } = await upload(["--release", "1", "--url-prefix", "~/static", "dist/"]);
  expect(out.split("\n").toSorted()).toEqual(["", "Release 1: 2 uploaded, 0 failed, 2 skipped.", "a b/ü.mjs uploaded (~/static/a%20b/%C3%BC.mjs)", "app.js uploaded (~/static/app.js)", "inline.js skipped: its map is inline (data:); let the build write maps as files", "vendor.js skipped: it names no map, and there is no vendor.js.map beside it"]);
  expect([code, (await list("1")).map((map) => map.file_url), await contents()]).toEqual([0, ["~/static/a%20b/%C3%BC.mjs", "~/static/app.js"], before]);
});

test("with debug ids the service knows them, a second run changes nothing, and places are found by the injected script's lines", async () => {
  await write({ ...script("a.js"), ...script("b.js") });
  const first = await upload(["--release", "2", "--inject-debug-ids", "--json", "."]);
  const lines = first.out.trim().split("\n").map((line) => JSON.parse(line) as { path: string; debug_id: string });
  expect(lines).toContainEqual({ path: "a.js", url: "~/a.js", outcome: "uploaded", debug_id: expect.any(String) as string, injected: true, reason: null });
  const uploaded = await list("2");
  expect(uploaded.map((map) => map.debug_id)).toEqual(lines.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map((line) => line.debug_id));
  const injected = await contents();
  expect(injected[join(folder, "a.js")]).toContain(`//# debugId=${uploaded[0]!.debug_id}`);
  const second = await upload(["--release", "2", "--inject-debug-ids", "--json", "."]);
  expect(second.out.match(/"injected":false/g)).toHaveLength(2);
  expect([await contents(), await list("2")]).toMatchObject([injected, uploaded.map(({ debug_id: id }) => ({ debug_id: id }))]);
  const place = { service_id: plane.organization.serviceId, release: "2", url: "https://shop.example/a.js", column: 1 };
  expect((await plane.call("POST", "/sourcemaps/lookup", { ...place, line: 2 })).body).toMatchObject({ original: { source: "a.js.ts", line: 3, column: 3 } });
});

test("an upload that fails for the moment is tried again after the time the service names", async () => {
  await write(script("a.js"));
  front = (request, response) => {
    if (asked.length === 1) response.writeHead(503, { "retry-after": "1" }).end(`{"error":"Away.","fix":"Wait."}`);
    else if (asked.length === 2) request.socket.destroy();
    return asked.length < 3;
  };
  expect(await upload(["--release", "3", "a.js"])).toMatchObject({ code: 0, out: "a.js uploaded (~/a.js)\nRelease 3: 1 uploaded, 0 failed, 0 skipped.\n" });
  expect(asked).toHaveLength(3);
  expect(asked[1]! - asked[0]!).toBeGreaterThanOrEqual(1_000);
  front = (_, response) => Boolean(response.writeHead(429, { "retry-after": "9999" }).end("no JSON"));
  expect(await upload(["--release", "3", "a.js"])).toMatchObject({ code: 1, out: expect.stringMatching(/^a\.js failed: .* answers 429\. Tried once\./) as string });
});

test("what is refused is told with the reason, the others go on; a key that is refused stops all", async () => {
  await write({ ...script("good.js"), ...script("bad.js"), "bad.js.map": `{"version":3}`, ...script("broken.js"), "broken.js.map": "<html>" });
  const { code, out } = await upload(["--release", "4", "."]);
  expect([code, out]).toEqual([1, expect.stringMatching(/^bad\.js failed: .*no `mappings`.*$/m)]);
  expect(out).toContain("broken.js failed: ");
  expect(out).toContain("Release 4: 1 uploaded, 2 failed, 0 skipped.");
  const before = await contents();
  expect((await upload(["--release", "4", "--inject-debug-ids", "broken.js"])).out).toContain("not valid JSON, so nothing was injected");
  expect(await contents()).toEqual(before);
  const refused = await upload(["--release", "4", "."], { PHAROS_API_KEY: "psk_wrong" });
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.err.trim()).toMatch(/^[^\n]+$/);
  front = (_, response) => Boolean(response.writeHead(308, { location: "https://pharos.example/api/v1/sourcemaps" }).end());
  expect((await upload(["--release", "4", "."])).err).toContain("redirects to https://pharos.example/api/v1/sourcemaps: name that service's address as PHAROS_URL.");
});

test("Ctrl+C ends it at once and in order", async () => {
  await write(script("a.js"));
  front = () => true;
  const { child, ended } = start(["--release", "5", "a.js"]);
  await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 30_000, interval: 20 });
  child.kill("SIGINT");
  expect(await ended).toEqual({ code: 130, out: "", err: "Interrupted. What was uploaded stays; the same command uploads the rest.\n" });
});

test.each([
  [["--release", "6"], 2, "Name the folder with the built scripts."],
  [["."], 2, "--release is required."],
  [["--release", "6", "--url-prefix", "/static", "."], 2, "write it like '~/static'"],
  [["--release", "6", "--nonsense", "."], 2, "--nonsense"],
  [["--release", "6", "nowhere"], 1, "nowhere cannot be read"],
  [["--release", "6", "."], 1, "There is no script with a map in .: let the build write source maps as files"],
])("%j ends with %i and says %s", async (args, code, sentence) => {
  expect(await upload(args)).toMatchObject({ code, err: expect.stringContaining(sentence) as string });
});

test("without a key it says which", async () => {
  await write(script("a.js"));
  expect(await upload(["--release", "6", "."], { PHAROS_API_KEY: "" })).toMatchObject({ code: 2, err: expect.stringContaining("PHAROS_API_KEY, an API key, is required.") as string });
});

import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { gzipSync } from "node:zlib";
import { like } from "drizzle-orm";
import { SourceMapGenerator } from "source-map";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { sourceMapFiles } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

let plane: TestControlPlane;
let other: CreatedOrganization;
let serviceId: string;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("pro");
  ({ serviceId } = plane.organization);
});
afterAll(() => plane.stop());

function mapOf(source: string): string {
  const generator = new SourceMapGenerator({ file: "app.js" });
  generator.addMapping({ generated: { line: 1, column: 0 }, original: { line: 3, column: 2 }, source, name: "pay" });
  return generator.toString();
}

type Fields = Record<string, string | Blob | undefined>;

/** A form as curl sends it; what is undefined is left out. */
async function upload(fields: Fields, headers: Record<string, string> = {}, pack: (body: Buffer) => Buffer = (body) => body) {
  const form = new FormData();
  const all: Fields = { url: "https://shop.example/app.js", release: "1.0.0", service_id: serviceId, file: new Blob([mapOf("src/app.ts")]), ...fields };
  for (const [name, value] of Object.entries(all)) {
    if (typeof value === "string") form.append(name, value);
    else if (value) form.append(name, value, "app.js.map");
  }
  const request = new Response(form);
  const answer = await plane.app.inject({
    method: "POST",
    url: "/api/v1/sourcemaps",
    headers: { "x-api-key": plane.organization.apiKey, "content-type": request.headers.get("content-type")!, ...headers },
    payload: pack(Buffer.from(await request.arrayBuffer())),
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json<Record<string, unknown> & { sourcemap: Record<string, string> }>() };
}

const list = async (query = "") => (await plane.call("GET", `/sourcemaps${query}`)).body.sourcemaps as Record<string, unknown>[];
const files = async () => (await plane.database.select({ sizeBytes: sourceMapFiles.sizeBytes }).from(sourceMapFiles)).length;

/** Leaves room for so many bytes of source maps: nobody writes 5 GiB for a test. */
async function fillStorage(organizationId: string, room: number): Promise<void> {
  const large = { organizationId, hash: "large", sizeBytes: 0, index: Buffer.alloc(0), createdAt: new Date() };
  const parts = Array.from({ length: 5 }, (_, part) => ({ ...large, hash: `large ${part}`, storedBytes: 1024 ** 3 - (part === 0 ? room : 0) }));
  await plane.database.delete(sourceMapFiles).where(like(sourceMapFiles.hash, "large%"));
  await plane.database.insert(sourceMapFiles).values(parts);
}

describe("a source map", () => {
  it("is stored, listed, counted with its release, and goes when it is deleted", async () => {
    await plane.call("POST", "/releases", { service_id: serviceId, version: "1.0.0", environment: "staging" });
    const { status, body } = await upload({});
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: true, sourcemap: { url: "https://shop.example/app.js", release: "1.0.0", service_id: serviceId, debug_id: null, size_bytes: mapOf("src/app.ts").length } });
    expect(await list()).toMatchObject([{ id: body.sourcemap.id, release_version: "1.0.0", file_url: "https://shop.example/app.js", environment: "staging" }]);
    expect((await plane.call("GET", "/releases")).body.releases).toMatchObject([{ version: "1.0.0", sourcemap_count: 1 }]);
    expect((await plane.call("DELETE", `/sourcemaps/${body.sourcemap.id}`)).body).toEqual({ success: true });
    expect([await list(), await files()]).toEqual([[], 0]);
    expect(await plane.call("DELETE", `/sourcemaps/${body.sourcemap.id}`)).toMatchObject({ status: 404, body: { error: "No such source map." } });
  });

  it("replaces the one of the same script and release; the same content is kept once, as long as a map has it", async () => {
    const first = await upload({});
    const again = await upload({ file: new Blob([mapOf("src/other.ts")]) });
    expect(again.body.sourcemap.id).toBe(first.body.sourcemap.id);
    expect([(await list()).length, await files()]).toEqual([1, 1]);
    const twins = await Promise.all(["~/a.js", "~/b.js", "~/c.js"].map((url) => upload({ url, release: "2.0.0" })));
    expect(twins.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect([(await list("?release=2.0.0")).length, await files()]).toEqual([3, 2]);
    await Promise.all(twins.map(({ body }) => plane.call("DELETE", `/sourcemaps/${body.sourcemap.id}`)));
    expect(await files()).toBe(1);
    await plane.call("DELETE", `/sourcemaps/${first.body.sourcemap.id}`);
    expect(await files()).toBe(0);
  });

  it("that is deleted while it is uploaded again is there or not, never half", async () => {
    for (let round = 0; round < 10; round++) {
      const { body } = await upload({ url: "~/race.js", release: "3" });
      const [again] = await Promise.all([upload({ url: "~/race-2.js", release: "3" }), plane.call("DELETE", `/sourcemaps/${body.sourcemap.id}`)]);
      expect([201, 409]).toContain(again.status);
      const left = await list("?release=3");
      expect(await files()).toBe(left.length === 0 ? 0 : 1);
      await Promise.all(left.map(({ id }) => plane.call("DELETE", `/sourcemaps/${String(id)}`)));
    }
  });

  it("may come packed, and once by its Idempotency-Key", async () => {
    const boundary = "one-and-the-same";
    const body = [["url", "~/packed.js"], ["release", "4"], ["service_id", serviceId]].map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("") +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.map"\r\nContent-Type: application/json\r\n\r\n${mapOf("a.ts")}\r\n--${boundary}--\r\n`;
    const send = () => plane.app.inject({ method: "POST", url: "/api/v1/sourcemaps", headers: { "x-api-key": plane.organization.apiKey, "content-type": `multipart/form-data; boundary=${boundary}`, "content-encoding": "gzip", "idempotency-key": "map-1" }, payload: gzipSync(body) });
    const [first, second] = [await send(), await send()];
    expect([first.statusCode, second.statusCode, second.headers["idempotency-replayed"]]).toEqual([201, 201, "true"]);
    expect(second.json()).toEqual(first.json());
  });

  it("with a debug id is known by it", async () => {
    const debugId = "0f8fad5b-d9cb-469f-a165-70867728950e";
    const { body } = await upload({ url: "~/debug.js", file: new Blob([JSON.stringify({ ...(JSON.parse(mapOf("x.ts")) as object), debugId })]) });
    expect(body.sourcemap.debug_id).toBe(debugId);
  });

  it("that brings down the process that reads it is refused, and the next one is read", async () => {
    const hostile = { ...(JSON.parse(mapOf("chain.js")) as object), sourcesContent: [`${"1+".repeat(500_000)}1`] };
    const answer = await upload({ url: "~/hostile.js", file: new Blob([JSON.stringify(hostile)]) });
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_SOURCE_MAP", error: expect.stringContaining("brought down the process that read it") as string } });
    expect((await upload({ url: "~/after.js", file: new Blob([mapOf("after.ts")]) })).status).toBe(201);
  });

  it.each<[string, Fields, number, string, string | undefined]>([
    ["that is none", { file: new Blob(["{}"]) }, 400, "INVALID_SOURCE_MAP", "/file"],
    ["that is a script", { file: new Blob(["(function(){})()\n//# sourceMappingURL=app.js.map"]) }, 400, "INVALID_SOURCE_MAP", "/file"],
    ["without its file", { file: undefined }, 400, "INVALID_REQUEST", "/file"],
    ["whose file is a text", { file: "text" }, 400, "INVALID_REQUEST", "/file"],
    ["without an address", { url: undefined }, 400, "INVALID_REQUEST", "/url"],
    ["without a release", { release: " " }, 400, "INVALID_REQUEST", "/release"],
    ["with another field", { extra: "x" }, 400, "INVALID_REQUEST", "/extra"],
    ["with another file", { map: new Blob(["x"]) }, 400, "INVALID_REQUEST", undefined],
    ["of a service that is not there", { service_id: "nonsense" }, 404, "NOT_FOUND", undefined],
    ["that is too large", { file: new Blob([new Uint8Array(64 * 1024 * 1024 + 1)]) }, 413, "PAYLOAD_TOO_LARGE", "/file"],
  ])("%s is refused", async (_, fields, status, code, path) => {
    const answer = await upload(fields);
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.body.path).toBe(path);
  });

  it("is a form and nothing else is, and a broken one says so", async () => {
    expect(await plane.call("POST", "/sourcemaps", { url: "x" })).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE", error: "The body is not sent as a form." } });
    const form = { "x-api-key": plane.organization.apiKey, "content-type": "multipart/form-data; boundary=x" };
    const asForm = await plane.app.inject({ method: "POST", url: "/api/v1/services", headers: form, payload: "--x--\r\n" });
    expect([asForm.statusCode, asForm.json<{ code: string }>().code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    for (const payload of ["", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhalf", "rubbish"]) {
      const broken = await plane.app.inject({ method: "POST", url: "/api/v1/sourcemaps", headers: form, payload });
      expect([broken.statusCode, broken.json<{ code: string }>().code], payload).toEqual([400, "INVALID_REQUEST"]);
    }
    const without = await plane.app.inject({ method: "POST", url: "/api/v1/sourcemaps", headers: { ...form, "content-type": "multipart/form-data" }, payload: "--x--\r\n" });
    expect([without.statusCode, without.json<{ code: string }>().code]).toEqual([400, "INVALID_REQUEST"]);
  });

  it("tells where a place comes from, whichever way its script is named, and why not", async () => {
    const content = Array.from({ length: 9 }, (_, at) => `line ${at + 1}`).join("\n");
    const map = (name: string) => new Blob([JSON.stringify({ ...(JSON.parse(mapOf(name)) as object), sourcesContent: [content] })]);
    await upload({ url: "https://shop.example/a/app.js", release: "5", file: map("exact.ts") });
    await upload({ url: "~/a/app.js", release: "5", file: map("anywhere.ts") });
    const ask = async (url: string, line = 1, column = 1) => (await plane.call("POST", "/sourcemaps/lookup", { service_id: serviceId, release: "5", url, line, column })).body;
    expect(await ask("https://shop.example/a/app.js?v=1")).toEqual({
      original: { source: "exact.ts", line: 3, column: 3, name: null, context: { pre: ["line 1", "line 2"], line: "line 3", post: ["line 4", "line 5", "line 6", "line 7", "line 8"] } },
      unmapped_reason: null,
      ignored: false,
    });
    expect(await ask("https://cdn.example/a/app.js#top")).toMatchObject({ original: { source: "anywhere.ts" } });
    expect(await ask("https://cdn.example/b/app.js")).toEqual({ original: null, unmapped_reason: "no_map_for_url", ignored: false });
    expect(await ask("https://shop.example/a/app.js", 2)).toEqual({ original: null, unmapped_reason: "position_not_in_map", ignored: false });
    await plane.database.update(sourceMapFiles).set({ index: Buffer.from("of another layout") });
    expect(await ask("https://shop.example/a/app.js")).toEqual({ original: null, unmapped_reason: "map_invalid", ignored: false });
    expect(await plane.call("POST", "/sourcemaps/lookup", { service_id: serviceId, release: "5", url: "x", line: 0, column: 1 })).toMatchObject({ status: 400, body: { path: "/line" } });
    const foreign = { service_id: serviceId, release: "5", url: "x", line: 1, column: 1 };
    expect((await plane.call("POST", "/sourcemaps/lookup", foreign, { "x-api-key": other.apiKey })).status).toBe(404);
  });

  it("needs the pro plan, and belongs to one organization", async () => {
    const free = await plane.createOrganization("free");
    const refused = await upload({ service_id: free.serviceId }, { "x-api-key": free.apiKey });
    expect(refused).toMatchObject({ status: 403, body: { code: "PLAN_RESTRICTED" } });
    const foreign = { "x-api-key": other.apiKey };
    expect((await upload({}, foreign)).status).toBe(404);
    const { body } = await upload({ url: "~/mine.js" });
    expect((await plane.call("GET", "/sourcemaps", undefined, foreign)).body).toEqual({ sourcemaps: [] });
    expect((await plane.call("GET", `/sourcemaps?service_id=${serviceId}`, undefined, foreign)).body).toEqual({ sourcemaps: [] });
    expect((await plane.call("DELETE", `/sourcemaps/${body.sourcemap.id}`, undefined, foreign)).status).toBe(404);
  });

  it("is refused when the maps would take more than the plan allows, with what is used and what is allowed", async () => {
    const { apiKey, serviceId: service, organizationId } = await plane.createOrganization("pro");
    const post = (name: string, url = `~/${name}.js`) => upload({ service_id: service, url, file: new Blob([mapOf(`${name}.ts`)]) }, { "x-api-key": apiKey });
    const { body: first } = await post("first");
    await fillStorage(organizationId, 0);
    const refused = await post("second");
    expect(refused).toMatchObject({ status: 403, body: { code: "PLAN_LIMIT", path: "/file", error: "The pro plan allows 5 GiB of source maps as they are stored; with this one they take 5.001 GiB.", fix: expect.stringContaining("Delete the maps of releases that nobody uses any more, or change to the team plan, which allows 50 GiB.") as string } });
    // What is there already takes a row again.
    expect((await post("first", "~/elsewhere.js")).status).toBe(403);
    expect((await plane.call("GET", "/sourcemaps", undefined, { "x-api-key": apiKey })).body.sourcemaps).toHaveLength(1);

    await fillStorage(organizationId, 5_000);
    expect(await Promise.all([post("second"), post("first", "~/elsewhere.js")])).toMatchObject([{ status: 201 }, { status: 201 }]);
    expect((await plane.call("DELETE", `/sourcemaps/${first.sourcemap.id}`, undefined, { "x-api-key": apiKey })).status).toBe(200);
  });

  it("of two that are uploaded at once, where one has room, only one is taken", async () => {
    const { apiKey, serviceId: service, organizationId } = await plane.createOrganization("pro");
    await fillStorage(organizationId, 2_048);
    const answers = await Promise.all(["a", "b", "c"].map((name) => upload({ service_id: service, url: `~/${name}.js`, file: new Blob([mapOf(`${name}.ts`)]) }, { "x-api-key": apiKey })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403]);
  });

  it("leaves no file behind on the disk of the control plane", async () => {
    await vi.waitFor(async () => expect((await readdir(tmpdir())).filter((name) => name.startsWith("pharos-upload-"))).toEqual([]));
  });
});

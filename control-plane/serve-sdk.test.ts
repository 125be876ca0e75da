import { createHash } from "node:crypto";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

interface Described {
  "pharos.js": { url: string; integrity: string; bytes: number; gzip_bytes: number };
  "pharos.mjs": { url: string; integrity: string };
  snippet: string;
}

describe("the browser SDK over HTTP", () => {
  let plane: TestControlPlane;
  let described: Described;
  beforeAll(async () => {
    plane = await startTestControlPlane({ settings: { PUBLIC_URL: "https://status.example/" } });
    described = (await get("/sdk")).json();
  });
  afterAll(() => plane.stop());

  const get = (url: string, headers: Record<string, string> = {}) => plane.app.inject({ method: "GET", url, headers });

  test.each(["pharos.js", "pharos.mjs"] as const)("%s at its own name and at that of its hash", async (name) => {
    const { url, integrity } = described[name];
    expect(url).toMatch(/^https:\/\/status\.example\/sdk\/pharos\.[0-9a-f]{16}\.m?js$/);
    for (const [path, cached] of [[`/sdk/${name}`, "public, max-age=3600"], [new URL(url).pathname, "public, max-age=31536000, immutable"]] as const) {
      const answer = await get(path);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": cached,
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
        "x-content-type-options": "nosniff",
        vary: "Accept-Encoding",
      });
      expect(`sha384-${createHash("sha384").update(answer.rawPayload).digest("base64")}`).toBe(integrity);
    }
  });

  test.each([
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip;q=1.0, br;q=0", "gzip", gunzipSync],
    ["GZIP", "gzip", gunzipSync],
    ["identity", undefined, (body: Buffer) => body],
    ["", undefined, (body: Buffer) => body],
  ])("to a client that takes %j as %s", async (accepted, encoding, read) => {
    const plain = await get("/sdk/pharos.js");
    const answer = await get("/sdk/pharos.js", { "accept-encoding": accepted });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(read(answer.rawPayload).equals(plain.rawPayload)).toBe(true);
    const again = await get("/sdk/pharos.js", { "accept-encoding": accepted, "if-none-match": answer.headers.etag as string });
    expect([again.statusCode, again.rawPayload.byteLength]).toEqual([304, 0]);
    expect((await get("/sdk/pharos.js", { "if-none-match": `"other"` })).statusCode).toBe(200);
  });

  test("what a page needs is told, at two addresses", async () => {
    const file = described["pharos.js"];
    expect((await get("/sdk/integrity.json")).json()).toEqual(described);
    expect(file.bytes).toBe((await get("/sdk/pharos.js")).rawPayload.byteLength);
    expect(file.gzip_bytes).toBe((await get("/sdk/pharos.js", { "accept-encoding": "gzip" })).rawPayload.byteLength);
    expect(described.snippet).toBe(`<script src="${file.url}" integrity="${file.integrity}" crossorigin="anonymous" data-key="bpk_…" data-release="1.0.0"></script>`);
  });

  test.each(["/sdk/pharos.0123456789abcdef.js", "/sdk/other.js", "/sdk/..%2f..%2fpackage.json"])("%s is not there", async (url) => {
    const answer = await get(url);
    expect([answer.statusCode, answer.json().code]).toEqual([404, "NOT_FOUND"]);
  });
});

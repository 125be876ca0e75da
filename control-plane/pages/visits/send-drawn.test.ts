import fastify from "fastify";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finishDrawing, type Drawn } from "./drawn.ts";
import { sendDrawn } from "./send-drawn.ts";

const TEXT = "All services are working. ".repeat(100);
const CHANGED = Date.UTC(2026, 0, 31, 12);

const app = fastify();
let drawn: Drawn;
beforeAll(async () => {
  drawn = await finishDrawing({ type: "text/plain; charset=utf-8", body: Buffer.from(TEXT), headers: { "X-Own": "1" } }, { before: undefined, now: CHANGED });
  app.get("/", (request, reply) => sendDrawn(request, reply, drawn));
});
afterAll(() => app.close());

const visit = (headers: Record<string, string> = {}) => app.inject({ method: "GET", url: "/", headers });

describe("what was drawn", () => {
  it.each([
    { accepts: "gzip, deflate, br, zstd", encoding: "br", decode: brotliDecompressSync },
    { accepts: "br;q=0, gzip", encoding: "gzip", decode: gunzipSync },
    { accepts: "GZIP;q=0.5", encoding: "gzip", decode: gunzipSync },
    { accepts: "gzip;q=0.5", encoding: "gzip", decode: gunzipSync },
    { accepts: "brotli, xgzip", encoding: undefined, decode: (raw: Buffer) => raw },
    { accepts: "identity", encoding: undefined, decode: (raw: Buffer) => raw },
  ])("is sent to who takes $accepts as $encoding", async ({ accepts, encoding, decode }) => {
    const { headers, rawPayload } = await visit({ "accept-encoding": accepts });
    expect(headers["content-encoding"]).toBe(encoding);
    expect(decode(rawPayload).toString()).toBe(TEXT);
    expect(headers).toMatchObject({ "content-type": "text/plain; charset=utf-8", "x-own": "1", "last-modified": "Sat, 31 Jan 2026 12:00:00 GMT" });
  });

  it("is not sent again to who has it", async () => {
    const { headers } = await visit({ "accept-encoding": "br" });
    const tag = headers.etag!;
    for (const tags of [tag, `W/${tag}`, `"other", ${tag}`, "*", tag.replace("-br", ""), tag.replace("-br", "-gzip")]) {
      const again = await visit({ "accept-encoding": "br", "if-none-match": tags });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", tag]);
    }
    expect((await visit({ "if-none-match": '"other"' })).statusCode).toBe(200);
    expect((await visit({ "if-modified-since": headers["last-modified"]! })).statusCode).toBe(304);
    for (const since of ["Sat, 31 Jan 2026 11:59:59 GMT", "nonsense"]) expect((await visit({ "if-modified-since": since })).statusCode).toBe(200);
    // A tag that differs counts more than a date that does not.
    expect((await visit({ "if-none-match": '"other"', "if-modified-since": headers["last-modified"]! })).statusCode).toBe(200);
  });

  it("keeps its moment of change while its body stays", async () => {
    const same = await finishDrawing({ type: drawn.type, body: Buffer.from(TEXT), headers: {} }, { before: drawn, now: CHANGED + 60_000 });
    const other = await finishDrawing({ type: drawn.type, body: Buffer.from(`${TEXT}!`), headers: {} }, { before: drawn, now: CHANGED + 60_000 });
    expect([same.changedAt, other.changedAt]).toEqual([CHANGED / 1000, CHANGED / 1000 + 60]);
  });
});

import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeLog } from "../platform/log.ts";
import { startSourceMapIndexing, type SourceMapIndexing } from "./source-map-indexing.ts";

let folder: string;
let indexing: SourceMapIndexing | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "maps-"));
});
afterEach(() => indexing?.close());
afterAll(() => rm(folder, { recursive: true }));

const start = (limits = { deadlineMs: 60_000, memoryMib: 2_560 }): SourceMapIndexing => (indexing = startSourceMapIndexing(makeLog("silent"), limits));

let count = 0;
/** A map in a file; its sources are parsed, at some MB a second. */
async function mapOf(megabytes: number): Promise<string> {
  const sources = Array.from({ length: Math.ceil(megabytes) }, (_, at) => `s${at}.tsx`);
  const content = "a=b=><p>{c}</p>;".repeat(Math.round((megabytes / sources.length) * 62_500));
  const path = join(folder, `${count++}.map`);
  await writeFile(path, JSON.stringify({ version: 3, sources, names: [], mappings: `AAAA${",CCAA".repeat(sources.length - 1)}`, sourcesContent: sources.map(() => content) }));
  return path;
}

test("a map that takes too long is refused with the reason, and the next one is read by a new process", async () => {
  const { indexFile } = start({ deadlineMs: 10_000, memoryMib: 8_192 });
  const [long, short] = [await mapOf(40), await mapOf(0.01)];
  const [refused, read] = await Promise.all([indexFile("a", long), indexFile("b", short)]);
  expect(refused).toEqual({ kind: "invalid", reason: "Reading the map takes more than 10 s, the most that one map may take.", fix: expect.stringContaining("smaller parts") as string });
  expect(read).toMatchObject({ kind: "index", sources: 1 });
  expect((await readdir(folder)).filter((name) => name.endsWith(".index"))).toEqual([]);
});

test.runIf(process.platform === "linux")("a map that takes too much memory is refused with the reason, and the next one is read", async () => {
  const { indexFile } = start({ deadlineMs: 60_000, memoryMib: 200 });
  const [large, small] = [await mapOf(40), await mapOf(0.01)];
  const [refused, read] = await Promise.all([indexFile("a", large), indexFile("b", small)]);
  expect(refused).toMatchObject({ kind: "invalid", reason: "Reading the map takes more than 200 MiB of memory, the most that one map may take." });
  expect(read).toMatchObject({ kind: "index" });
});

test("an organization with many maps lets another's come in between", async () => {
  const { indexFile } = start();
  const [slow, quick] = [await mapOf(0.2), await mapOf(0.01)];
  const order: string[] = [];
  const index = async (organization: string, path: string) => {
    await indexFile(organization, path);
    order.push(organization);
  };
  await Promise.all([...Array.from({ length: 5 }, () => index("a", slow)), index("b", quick), index("b", quick)]);
  expect(order).toEqual(["a", "b", "b", "a", "a", "a", "a"]);
});

test("of one organization only so many wait, and another's are taken all the same", async () => {
  const { indexFile } = start();
  const path = await mapOf(0.01);
  const own = await Promise.allSettled(Array.from({ length: 25 }, () => indexFile("a", path)).concat(indexFile("b", path)));
  const refused = own.filter((result) => result.status === "rejected");
  expect(refused).toHaveLength(4);
  expect(refused[0]!.reason).toMatchObject({ code: "RATE_LIMITED", message: "20 source maps of this organization wait to be read already.", details: { retryAfter: 30 } });
  expect(own.at(-1)!.status).toBe("fulfilled");
});

test("an upload whose client hung up is not read", async () => {
  const { indexFile } = start();
  const path = await mapOf(0.01);
  const first = indexFile("a", path);
  const second = indexFile("a", `${path}.gone`);
  await expect(second).rejects.toMatchObject({ message: "The upload was given up by its client." });
  expect(await first).toMatchObject({ kind: "index" });
});

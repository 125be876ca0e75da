import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock, type Clock } from "../clock.ts";
import { makeLog } from "../log.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { openEmbeddedLog, type EmbeddedLogNeeds } from "./embedded.ts";
import type { EventLog } from "./port.ts";

/** Changes a limit of a running process; Linux only. */
const PRLIMIT = "/usr/bin/prlimit";
const MIB = 1024 * 1024;
const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
let folder: string;
let opened: EventLog[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-log-"));
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((eventLog) => eventLog.close()));
  await rm(folder, { recursive: true, force: true });
});

async function open(needs: Partial<EmbeddedLogNeeds> = {}): Promise<EventLog> {
  const eventLog = await openEmbeddedLog({ folder, partitions: 3, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log, ...needs });
  opened.push(eventLog);
  return eventLog;
}

/** Everything that a partition holds, read to its end. */
async function readAll(eventLog: EventLog, partition: number): Promise<{ offset: bigint; value: Buffer }[]> {
  const end = (await eventLog.ends("beacons"))[partition]!;
  const records: { offset: bigint; value: Buffer }[] = [];
  const consumer = await eventLog.consume({
    topic: "beacons",
    group: "check",
    startAt: () => Promise.resolve(0n),
    async onRecords(batch) {
      if (batch.partition === partition) records.push(...batch.records);
      return batch.records.at(-1)!.offset + 1n;
    },
  });
  if (end > 0n) await vi.waitFor(() => expect(records.at(-1)?.offset).toBe(end - 1n), 60_000);
  await consumer.stop();
  return records;
}

/** The child that appends without end; `acknowledged` grows as it says so. */
function startAppending(shell = 'exec "$@"') {
  const child = spawn("sh", ["-c", shell, "sh", process.execPath, ...LOADER_ARGUMENTS, moduleFile("./embedded.child.ts", import.meta.url), folder], { stdio: ["ignore", "pipe", "ignore"] });
  const acknowledged: [number, number, number] = [-1, -1, -1];
  const refusals: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const [, partition, number] = /^(\d) (\d+)$/.exec(line) ?? [];
    if (partition !== undefined) acknowledged[Number(partition)] = Number(number);
    else if (line.startsWith("refused ")) refusals.push(line);
  });
  const ended = new Promise<void>((resolve) => lines.once("close", resolve));
  return {
    pid: child.pid!,
    acknowledged,
    refusals,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Each partition holds 0, 1, 2 … once each, whole, at least as far as was acknowledged. */
async function expectWhole(eventLog: EventLog, acknowledged: readonly number[]): Promise<void> {
  for (const [partition, last] of acknowledged.entries()) {
    const records = await readAll(eventLog, partition);
    expect(records.length).toBeGreaterThan(last);
    // One record of each partition was in flight at most.
    expect(records.length).toBeLessThanOrEqual(last + 2);
    for (const [number, { offset, value }] of records.entries()) {
      expect(offset).toBe(BigInt(number));
      expect(value.equals(Buffer.alloc(20_000 + (number % 7) * 5_000, `${partition}:${number};`))).toBe(true);
    }
  }
}

test("kill -9 in the middle of appends loses nothing acknowledged and leaves no hole, time and again", async () => {
  let before = -1;
  for (let round = 0; round < 4; round++) {
    const child = startAppending();
    await vi.waitFor(() => expect(Math.min(...child.acknowledged)).toBeGreaterThan(before + 20 + round * 7), 60_000);
    await child.kill();
    before = Math.max(...child.acknowledged);
    const eventLog = await open();
    await expectWhole(eventLog, child.acknowledged);
    await eventLog.close();
  }
});

test.runIf(existsSync(PRLIMIT))("a disk that takes no more refuses appends, and they go on by themselves once it does", async () => {
  // A limit on the file's size stands for the full disk: the write fails in the same place, halfway through a record.
  const child = startAppending('ulimit -S -f 8192; exec "$@"');
  await vi.waitFor(() => expect(child.refusals.length).toBeGreaterThan(3), 60_000);
  expect(child.refusals[0]).toContain(`The event log is unavailable: `);
  expect(child.refusals[0]).toContain(folder);
  const [then] = child.acknowledged;
  expect(spawnSync(PRLIMIT, ["--pid", String(child.pid), "--fsize=unlimited:"]).status).toBe(0);
  await vi.waitFor(() => expect(Math.min(...child.acknowledged)).toBeGreaterThan(then + 20), 60_000);
  await child.kill();
  await expectWhole(await open(), child.acknowledged);
});

/** Appends and consumes so many records of 50 kB; resolves when all are consumed. */
async function passThrough(eventLog: EventLog, group: string, count: number): Promise<void> {
  let read = (await eventLog.ends("beacons"))[0]!;
  const goal = read + BigInt(count);
  const start = read;
  const consumer = await eventLog.consume({
    topic: "beacons",
    group,
    startAt: async (partition) => (partition === 0 ? start : 0n),
    onRecords: async ({ records }) => (read = records.at(-1)!.offset + 1n),
  });
  for (let number = 0; number < count; number++) {
    await eventLog.append("beacons", 0, Buffer.alloc(50_000, number));
    // What is not consumed is not trimmed: a reader that lags, on a busy machine, would make the file larger.
    await vi.waitUntil(() => read > start + BigInt(number - 20), { timeout: 60_000, interval: 1 });
  }
  await vi.waitFor(() => expect(read).toBe(goal), 60_000);
  await consumer.stop();
}

test("what every group has consumed is trimmed to the limit, its space is used again, and a reader from before starts at what is kept", async () => {
  const eventLog = await open({ retentionBytes: 2 * MIB });
  await passThrough(eventLog, "one", 300);
  const size = (await stat(join(folder, "data.mdb"))).size;
  expect(size).toBeLessThan(8 * MIB);
  await passThrough(eventLog, "one", 300);
  expect((await stat(join(folder, "data.mdb"))).size).toBeLessThan(10 * MIB);
  const records = await readAll(eventLog, 0);
  expect(records[0]!.offset).toBeGreaterThan(500n);
  expect(records.length * 50_000).toBeGreaterThan(MIB);
  expect(records.map(({ offset }) => offset)).toEqual(records.map((_, index) => records[0]!.offset + BigInt(index)));
});

test("what one known group has not consumed is kept, over a restart too", async () => {
  const first = await open({ retentionBytes: MIB });
  const behind = await first.consume({ topic: "beacons", group: "behind", startAt: () => Promise.resolve(0n), onRecords: () => Promise.resolve(0n) });
  await behind.stop();
  await passThrough(first, "ahead", 100);
  await first.close();
  const second = await open({ retentionBytes: MIB });
  await passThrough(second, "ahead", 100);
  const records = await readAll(second, 0);
  expect(records[0]!.offset).toBe(0n);
  expect(records).toHaveLength(200);
});

test("consumed records go with age, and offsets go on where they were after all old ones went", async () => {
  let now = 1_000_000;
  const clock: Clock = { now: () => now, monotonic: () => systemClock.monotonic() };
  const eventLog = await open({ retentionMs: 60_000, clock });
  await passThrough(eventLog, "one", 60);
  now += 61_000;
  await passThrough(eventLog, "one", 60);
  now += 1_000;
  await eventLog.close();
  const again = await open({ retentionMs: 60_000, clock });
  expect(await again.ends("beacons")).toEqual([120n, 0n, 0n]);
  expect((await readAll(again, 0))[0]!.offset).toBeGreaterThan(20n);
});

test("the number of partitions stays what it was when the log was made", async () => {
  await (await open()).close();
  const eventLog = await open({ partitions: 8 });
  expect(eventLog.partitions("beacons")).toBe(3);
});

test("a damaged file refuses to open, with what to do", async () => {
  const eventLog = await open();
  for (let number = 0; number < 40; number++) await eventLog.append("beacons", 0, Buffer.alloc(50_000));
  await eventLog.close();
  await truncate(join(folder, "data.mdb"), 500_000);
  const cutShort: unknown = await open().catch((error: unknown) => error);
  expect(cutShort).toBeInstanceOf(StartFailure);
  expect((cutShort as StartFailure).message).toMatch(/data\.mdb is damaged \(\d+ bytes are missing at its end\)\. Restore/);

  await writeFile(join(folder, "data.mdb"), Buffer.alloc(100_000, "rubbish"));
  const rubbish: unknown = await open().catch((error: unknown) => error);
  expect(rubbish).toBeInstanceOf(StartFailure);
  expect((rubbish as StartFailure).message).toMatch(/data\.mdb is damaged \(.+\)\. Restore/);
});

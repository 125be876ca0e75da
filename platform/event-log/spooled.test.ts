import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../clock.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../root.ts";
import { openEmbeddedLog } from "./embedded.ts";
import { decodeHead, encodeFrame } from "./frame.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { LogUnavailable, type EventLog } from "./port.ts";
import { NotTaken, openSpool, SPOOL_LIMITS, type Spool, type SpoolLimits } from "./spooled.ts";

/** Linux only, and only as root. */
const [MOUNT, UNMOUNT, UNSHARE] = ["/usr/bin/mount", "/usr/bin/umount", "/usr/bin/unshare"] as const;
const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
let folder: string;
let gate: Gate;
let spools: Spool[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-spool-"));
  gate = await openGate();
  spools = [];
});
afterEach(async () => {
  gate.thaw();
  await Promise.all(spools.map((spool) => spool.stop()));
  await gate.eventLog.close();
  await rm(folder, { recursive: true, force: true });
});

type Gate = Awaited<ReturnType<typeof openGate>>;

/** A real log behind a gate. Away: it refuses. Frozen: nothing is answered, and all that was asked for happens when it thaws, as with a broker. */
async function openGate() {
  const inner = await openEmbeddedLog({ folder: join(folder, "log"), partitions: 3, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
  let state: "open" | "away" | "frozen" = "open";
  let thawed: (() => void)[] = [];
  const records: { partition: number; edgeId: string; sequence: number }[] = [];
  const appends = { running: new Map<number, number>(), most: 0 };

  async function append(topic: Topic, partition: number, record: Uint8Array, others: readonly Uint8Array[] = []): Promise<void> {
    if (state === "away") throw new LogUnavailable("away");
    const running = (appends.running.get(partition) ?? 0) + 1;
    appends.running.set(partition, running);
    appends.most = Math.max(appends.most, running);
    if (state === "frozen") await new Promise<void>((resolve) => thawed.push(resolve));
    await Promise.all([record, ...others].map((each) => inner.append(topic, partition, each)));
    appends.running.set(partition, appends.running.get(partition)! - 1);
    for (const { edgeId, sequence } of [record, ...others].map(decodeHead)) records.push({ partition, edgeId, sequence: Number(sequence) });
  }

  /** One request for all of them, as with Kafka. */
  async function appendAll(topic: Topic, partition: number, all: readonly Uint8Array[]): Promise<void> {
    const [first, ...others] = all;
    await append(topic, partition, first!, others);
  }

  return {
    eventLog: { ...inner, append, appendAll } satisfies EventLog,
    appends,
    leave: () => void (state = "away"),
    freeze: () => void (state = "frozen"),
    comeBack: () => void (state = "open"),
    thaw() {
      state = "open";
      for (const go of thawed) go();
      thawed = [];
    },
    /** Numbers in the order of the log, and those left when a consumer has dropped every one that is not above the last. */
    sequences(edgeId: string, partition = 0) {
      const all = records.filter((record) => record.edgeId === edgeId && record.partition === partition).map(({ sequence }) => sequence);
      let last = 0;
      return { all, counted: all.filter((sequence) => sequence > last && (last = sequence)) };
    },
  };
}

async function open(limits: Partial<SpoolLimits> = {}): Promise<Spool> {
  const spool = await openSpool({ eventLog: gate.eventLog, folder: join(folder, "spool"), limits: { ...SPOOL_LIMITS, bytes: 1e9, appendMs: 100, ...limits }, clock: systemClock, log });
  spools.push(spool);
  return spool;
}

async function stop(spool: Spool): Promise<void> {
  spools.splice(spools.indexOf(spool), 1);
  await spool.stop();
}

/** Appends numbered frames to one partition as an edge does, one after the other. */
function edgeOn(spool: Spool, partition = 0, bodyBytes = 100) {
  const edgeId = newId();
  let sequence = 0;
  async function appendOne(receivedAt = Date.now()) {
    sequence += 1;
    const entry = { requestNumber: 0, receivedAt, detached: true, organizationId: edgeId, subjectId: edgeId, body: Buffer.alloc(bodyBytes, sequence) };
    return spool.append("beacons", partition, encodeFrame({ edgeId, sequence: BigInt(sequence) }, [entry]), receivedAt);
  }
  return {
    edgeId,
    appendOne,
    async append(count: number) {
      const fates: string[] = [];
      for (let each = 0; each < count; each++) fates.push(await appendOne());
      return fates;
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const empty = (spool: Spool) => vi.waitFor(() => expect(spool.frames()).toBe(0), 20_000);

test("what one partition has found out about the log, the others need not wait for", async () => {
  const spool = await open({ appendMs: 2_000 });
  gate.freeze();
  expect(await edgeOn(spool, 0).append(1)).toEqual(["spooled"]);
  const began = performance.now();
  expect(await edgeOn(spool, 1).append(1)).toEqual(["spooled"]);
  expect(performance.now() - began).toBeLessThan(1_500);
  gate.thaw();
  await empty(spool);
  // Whoever is taken says that the log is back: now another freeze is waited for again.
  expect(await edgeOn(spool, 2).append(1)).toEqual(["logged"]);
  gate.freeze();
  const again = edgeOn(spool, 2).appendOne();
  await new Promise((resolve) => setTimeout(resolve, 500));
  gate.thaw();
  expect(await again).toBe("logged");
});

test("frames go straight to the log while it takes them", async () => {
  const spool = await open();
  const edge = edgeOn(spool);
  expect(await edge.append(3)).toEqual(["logged", "logged", "logged"]);
  expect(gate.sequences(edge.edgeId).all).toEqual([1, 2, 3]);
  expect([spool.bytes(), spool.oldestUnsentAt(), spool.unready()]).toEqual([0, null, null]);
});

test("while the log is away frames wait on the disk, and are sent in order before newer ones", async () => {
  const spool = await open();
  const edge = edgeOn(spool);
  await edge.append(2);
  gate.leave();
  expect(await edge.appendOne(5_000)).toBe("spooled");
  expect(new Set(await edge.append(50))).toEqual(new Set(["spooled"]));
  expect([spool.frames(), spool.oldestUnsentAt(), spool.oldestUnsentAt("beacons"), spool.oldestUnsentAt("metrics")]).toEqual([51, 5_000, 5_000, null]);
  expect(spool.bytes()).toBeGreaterThan(51 * 100);
  gate.comeBack();
  await empty(spool);
  expect(await edge.append(2)).toEqual(["logged", "logged"]);
  expect(gate.sequences(edge.edgeId).all).toEqual(upTo(55));
  expect([spool.bytes(), spool.oldestUnsentAt()]).toEqual([0, null]);
});

test("a log that stands still keeps one frame waiting for the limit, the others of its partition not at all; what it took late counts once", async () => {
  const spool = await open({ appendMs: 300 });
  const edge = edgeOn(spool);
  await edge.append(1);
  gate.freeze();
  const began = performance.now();
  expect(await edge.append(20)).toEqual(Array.from({ length: 20 }, () => "spooled"));
  expect(performance.now() - began).toBeLessThan(300 + 20 * 100);
  gate.thaw();
  await empty(spool);
  await edge.append(1);
  const { all, counted } = gate.sequences(edge.edgeId);
  expect(counted).toEqual(upTo(22));
  expect(all.length).toBeGreaterThan(22);
});

test("one partition's trouble does not send the others' frames through the disk", async () => {
  const spool = await open();
  const [stuck, well] = [edgeOn(spool, 0), edgeOn(spool, 1)];
  gate.leave();
  await stuck.append(1);
  gate.comeBack();
  expect(await well.append(2)).toEqual(["logged", "logged"]);
});

test("the spool is drained under constant load, one append of a partition at a time, and then is out of the way", async () => {
  const spool = await open();
  const edge = edgeOn(spool, 0, 50_000);
  gate.leave();
  await edge.append(60);
  gate.comeBack();
  let appended = 60;
  await vi.waitFor(
    async () => {
      appended += 1;
      expect(await edge.appendOne()).toBe("logged");
    },
    { timeout: 20_000, interval: 1 },
  );
  expect(await edge.append(20)).toEqual(Array.from({ length: 20 }, () => "logged"));
  expect(gate.sequences(edge.edgeId).all).toEqual(upTo(appended + 20));
  expect(gate.appends.most).toBe(1);
});

test("a full spool refuses and says so, keeps what it has, and takes frames again once there is room", async () => {
  const spool = await open({ bytes: 100_000 });
  const edge = edgeOn(spool, 0, 10_000);
  gate.leave();
  await edge.append(9);
  await expect(edge.appendOne()).rejects.toBeInstanceOf(NotTaken);
  await expect(edge.appendOne()).rejects.toThrow(/spool.*full/);
  expect(spool.unready()).toContain(join(folder, "spool", "0"));
  gate.comeBack();
  await vi.waitFor(() => expect(spool.unready()).toBeNull());
  await empty(spool);
  expect(await edge.appendOne()).toBe("logged");
  // Numbers 10 and 11 were refused, and never come.
  expect(gate.sequences(edge.edgeId).all).toEqual([...upTo(9), 12]);
});

test("a frame that may be in the log is not called refused when the spool is full", async () => {
  const spool = await open({ bytes: 1_000 });
  const edge = edgeOn(spool, 0, 2_000);
  gate.freeze();
  const error: unknown = await edge.appendOne().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LogUnavailable);
  expect(error).not.toBeInstanceOf(NotTaken);
});

test("what was spooled is sent by the next edge that starts, before its own frames of that partition", async () => {
  const first = await open();
  const before = edgeOn(first);
  gate.leave();
  await before.append(5);
  await stop(first);
  const second = await open();
  expect([second.frames(), second.oldestUnsentAt() !== null]).toEqual([5, true]);
  const after = edgeOn(second);
  expect(await after.appendOne()).toBe("spooled");
  gate.comeBack();
  await empty(second);
  expect(gate.sequences(before.edgeId).counted).toEqual(upTo(5));
  expect(gate.sequences(after.edgeId).all).toEqual([1]);
  expect(second.formerEdges()).toContain(before.edgeId);
});

test("two edges have slots of their own, and the one that stays sends what the other left", async () => {
  const [staying, leaving] = [await open({ adoptEveryMs: 50 }), await open()];
  const [one, two] = [edgeOn(staying), edgeOn(leaving)];
  gate.leave();
  await Promise.all([one.append(5), two.append(7)]);
  expect(await readdir(join(folder, "spool"))).toEqual(["0", "1"]);
  await stop(leaving);
  await vi.waitFor(() => expect(staying.frames()).toBe(12));
  gate.comeBack();
  await empty(staying);
  expect([gate.sequences(one.edgeId).counted, gate.sequences(two.edgeId).counted]).toEqual([upTo(5), upTo(7)]);
  // An adopted slot that is sent leaves no file behind, and is free for the next edge.
  await vi.waitFor(async () => expect(await readdir(join(folder, "spool", "1"))).toEqual(["lock"]));
});

test("a slot that has grown large gives the disk back once it is sent", async () => {
  const spool = await open({ renewBytes: 1_000_000 });
  const edge = edgeOn(spool, 0, 100_000);
  gate.leave();
  await edge.append(30);
  const file = join(folder, "spool", "0", "data.mdb");
  expect((await stat(file)).size).toBeGreaterThan(3_000_000);
  gate.comeBack();
  await vi.waitFor(async () => expect((await stat(file)).size).toBeLessThan(1_000_000), 20_000);
  gate.leave();
  expect(await edge.append(2)).toEqual(["spooled", "spooled"]);
  gate.comeBack();
  await empty(spool);
  expect(gate.sequences(edge.edgeId).counted).toEqual(upTo(32));
});

test("a damaged slot is passed over", async () => {
  await mkdir(join(folder, "spool", "0"), { recursive: true });
  await writeFile(join(folder, "spool", "0", "data.mdb"), "no such log ".repeat(1_000));
  const spool = await open();
  gate.leave();
  expect(await edgeOn(spool).append(1)).toEqual(["spooled"]);
});

test("kill -9 while spooling: a living edge adopts the slot and sends every frame that was taken, in order", async () => {
  const spool = await open({ adoptEveryMs: 50 });
  const child = spawn(process.execPath, [...LOADER_ARGUMENTS, moduleFile("./spooled.child.ts", import.meta.url), join(folder, "spool")], { stdio: ["ignore", "pipe", "inherit"] });
  const taken = [0, 0, 0];
  let edgeId = "";
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const [first, second] = line.split(" ") as [string, string];
    if (first === "edge") edgeId = second;
    else taken[Number(first)] = Number(second);
  });
  const ended = new Promise<void>((resolve) => lines.once("close", resolve));
  await vi.waitFor(() => expect(Math.min(...taken)).toBeGreaterThan(50), 20_000);
  child.kill("SIGKILL");
  await ended;
  await vi.waitFor(() => expect(gate.sequences(edgeId).all.length).toBeGreaterThan(0), 20_000);
  await empty(spool);
  for (const [partition, last] of taken.entries()) {
    const { counted } = gate.sequences(edgeId, partition);
    expect(counted.length).toBeGreaterThanOrEqual(last);
    expect(counted).toEqual(upTo(counted.length));
  }
}, 60_000);

describe.runIf(mayMount())("on a small disk of its own", () => {
  let disk: string;
  beforeEach(async () => {
    disk = join(folder, "spool");
    await mkdir(disk);
    expect(spawnSync(MOUNT, ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]).status).toBe(0);
  });
  afterEach(async () => {
    await Promise.all(spools.splice(0).map((spool) => spool.stop()));
    expect(spawnSync(UNMOUNT, [disk]).status).toBe(0);
  });

  test("a full disk refuses, loses nothing that was taken, and works again when there is room", async () => {
    const spool = await open();
    const edge = edgeOn(spool, 0, 50_000);
    gate.leave();
    const taken: number[] = [];
    const fillUp = async (): Promise<never> => {
      for (let sequence = 1; ; sequence++) {
        await edge.appendOne();
        taken.push(sequence);
      }
    };
    await expect(fillUp()).rejects.toBeInstanceOf(NotTaken);
    expect(spool.unready()).toContain("no space is left");
    gate.comeBack();
    await empty(spool);
    await vi.waitFor(() => expect(spool.unready()).toBeNull(), 10_000);
    gate.leave();
    await vi.waitFor(async () => expect(await edge.appendOne().catch(() => "refused")).toBe("spooled"), 10_000);
    gate.comeBack();
    await empty(spool);
    const { counted } = gate.sequences(edge.edgeId);
    expect(counted.slice(0, taken.length)).toEqual(taken);
  }, 60_000);
});

function mayMount(): boolean {
  return process.platform === "linux" && spawnSync(UNSHARE, ["--mount", MOUNT, "-t", "tmpfs", "tmpfs", tmpdir()]).status === 0;
}

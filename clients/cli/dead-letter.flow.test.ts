import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { countDeadLetters } from "../../domain/dead-letters/list-dead-letters.ts";
import {
  idOfDeadLetter,
  recordDeadLetters,
  type NewDeadLetter,
} from "../../domain/dead-letters/record-dead-letters.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { readAddress } from "../../platform/postgres/address-file.ts";
import { inTransaction, openDatabase, type Database } from "../../platform/postgres/database.ts";
import {
  buildService,
  COMMAND_LINE_PROGRAM,
  serviceEnvironment,
  startServiceProcess,
  type ServiceProcess,
} from "../../testing/service-process.ts";

let folder: string;
let service: ServiceProcess;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  await buildService();
  folder = await mkdtemp(join(tmpdir(), "pharos-letters-"));
  environment = serviceEnvironment(folder);
  service = await startServiceProcess(environment);
});
afterAll(async () => {
  service.child.kill("SIGTERM");
  await service.exited;
  await rm(folder, { recursive: true, force: true });
});

function pharos(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [COMMAND_LINE_PROGRAM, ...args],
      { env: environment },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

async function onDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(
    (await readAddress(join(folder, "postgres")))!,
    1,
    makeLog("silent"),
  );
  try {
    return await work(database);
  } finally {
    await database.$client.end();
  }
}

const record = (letters: NewDeadLetter[]) =>
  onDatabase((database) =>
    inTransaction(database, (transaction) => recordDeadLetters(transaction, letters)),
  );

async function occurrences(made: { service_id: string; api_key: string }): Promise<number[]> {
  const response = await fetch(`${service.base}/api/v1/errors?service_id=${made.service_id}`, {
    headers: { "X-API-Key": made.api_key },
  });
  return ((await response.json()) as { errors: { occurrences: number }[] }).errors.map(
    (error) => error.occurrences,
  );
}

test("dead letters are listed, shown, put back and discarded, while Pharos runs and while it does not", async () => {
  expect(await pharos("dead-letter", "list")).toEqual({
    code: 0,
    out: "There are no dead letters.\n",
    err: "",
  });
  const made = JSON.parse(
    (await pharos("organization", "create", "--name", "Letters", "--plan", "team", "--json")).out,
  ) as { organization_id: string; service_id: string; api_key: string };
  const body = Buffer.from(
    JSON.stringify({
      key: "bpk_",
      session_id: "s",
      events: [{ type: "error", error_type: "Error", message: "from the dead" }],
    }),
  );
  const frame = encodeFrame({ edgeId: newId(), sequence: 9n }, [
    {
      requestNumber: 1,
      receivedAt: Date.now(),
      detached: false,
      organizationId: made.organization_id,
      subjectId: made.service_id,
      body,
    },
  ]);
  // Of a log that is no more.
  const known = {
    consumerGroup: "errors",
    logId: "an older log",
    topic: "beacons" as const,
    partition: 5,
    rowsStand: false,
  };
  const whole: NewDeadLetter = {
    ...known,
    offset: 7n,
    entry: 0,
    reason: "it was too\nmuch",
    bytes: frame,
    createdAt: new Date("2026-01-02T03:04:05Z"),
  };
  const broken: NewDeadLetter = {
    ...known,
    offset: 8n,
    entry: -1,
    reason: "not a frame",
    bytes: Buffer.from([0, 255, 1]),
    createdAt: new Date("2026-01-02T03:04:06Z"),
  };
  await record([whole, broken]);
  const [id, brokenId] = [whole, broken].map((letter) => idOfDeadLetter(letter).slice(0, 8)) as [
    string,
    string,
  ];

  const lines = (await pharos("dead-letter", "list")).out.split("\n");
  expect(lines[1]).toMatch(
    new RegExp(
      `^${brokenId} +2026-01-02T03:04:06.000Z +open +beacons +5 +8 +all +errors +- +3 +- +not a frame$`,
    ),
  );
  expect(lines[2]).toMatch(
    new RegExp(
      `^${id} +2026-01-02T03:04:05.000Z +open +beacons +5 +7 +0 +errors +${made.organization_id} +${frame.byteLength} +- +it was too much$`,
    ),
  );
  expect(lines[3]).toBe("2 of 2 dead letters: 2 open.");
  expect(
    (await pharos("dead-letter", "list", "--limit", "1", "--json")).out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual([idOfDeadLetter(broken)]);
  expect((await pharos("dead-letter", "list", "--group", "metrics")).out).toBe(
    "There are no dead letters like that.\n",
  );
  expect((await pharos("dead-letter", "show", id)).out).toContain(body.toString());
  expect((await pharos("dead-letter", "show", brokenId)).out).toContain(
    Buffer.from([0, 255, 1]).toString("base64"),
  );

  expect(await pharos("dead-letter", "replay", id)).toMatchObject({
    code: 0,
    out: expect.stringContaining("was put back into beacons"),
  });
  await vi.waitFor(async () => expect(await occurrences(made)).toEqual([1]), {
    timeout: 30_000,
    interval: 200,
  });
  expect(await pharos("dead-letter", "replay", id)).toMatchObject({
    code: 1,
    err: expect.stringContaining("was replayed before. With --again"),
  });
  expect(await pharos("dead-letter", "replay", "--all")).toMatchObject({
    code: 1,
    out: "0 put back, 1 were replayed before, 1 are no whole frame and stay.\n",
  });
  expect(await pharos("dead-letter", "replay", "--all", "--topic", "metrics")).toMatchObject({
    code: 0,
    out: "0 put back.\n",
  });
  expect(await pharos("dead-letter", "replay", idOfDeadLetter(whole), "--again")).toMatchObject({
    code: 0,
  });
  await vi.waitFor(async () => expect(await occurrences(made)).toEqual([2]), {
    timeout: 30_000,
    interval: 200,
  });
  expect(await pharos("dead-letter", "discard", id)).toMatchObject({
    code: 1,
    err: expect.stringContaining("was replayed before"),
  });

  expect(await pharos("dead-letter", "replay", brokenId)).toMatchObject({
    code: 1,
    err: expect.stringContaining("no whole frame"),
  });
  expect(await pharos("dead-letter", "discard", "--all", "--group", "errors")).toMatchObject({
    code: 0,
    out: expect.stringContaining("1 discarded."),
  });
  expect(await pharos("dead-letter", "replay", brokenId)).toMatchObject({
    code: 1,
    err: expect.stringContaining("was discarded before"),
  });
  expect(await pharos("dead-letter", "show", "01234567")).toMatchObject({
    code: 1,
    err: expect.stringContaining("There is no dead letter 01234567"),
  });
  expect(await pharos("dead-letter", "replay")).toMatchObject({
    code: 2,
    err: expect.stringContaining("or --all, is required"),
  });
  expect(await pharos("dead-letter", "bury")).toMatchObject({
    code: 2,
    err: expect.stringContaining('no command "dead-letter bury"'),
  });

  // The processor deletes what a letter left in ClickHouse, and opens it.
  await record([{ ...broken, consumerGroup: "samples", topic: "metrics", rowsStand: true }]);
  await vi.waitFor(
    async () =>
      expect(await onDatabase((database) => countDeadLetters(database, {}))).toMatchObject({
        open: 1,
        rows_stand: 0,
      }),
    { timeout: 30_000, interval: 500 },
  );
  await vi.waitFor(
    async () =>
      expect(await (await fetch(`${service.base}/metrics`)).text()).toContain(
        'pharos_dead_letters_open{topic="metrics",group="samples"} 1\n',
      ),
    { timeout: 30_000, interval: 500 },
  );
  expect(await pharos("dead-letter", "discard", "--all")).toMatchObject({ code: 0 });

  service.child.kill("SIGTERM");
  await service.exited;
  const stopped = (await pharos("dead-letter", "list")).out;
  expect(stopped).toContain("3 of 3 dead letters: 1 replayed, 2 discarded.\n");
  expect(stopped).toMatch(new RegExp(`\n${id} .* replayed .* 2 +it was too much\n`));
  expect(await pharos("dead-letter", "replay", "--all", "--again")).toMatchObject({
    code: 0,
    out: "1 put back, 2 were discarded.\n",
  });
  service = await startServiceProcess(environment);
  await vi.waitFor(async () => expect(await occurrences(made)).toEqual([3]), {
    timeout: 30_000,
    interval: 200,
  });
});

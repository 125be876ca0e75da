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

/** Runs `dead-letter` commands beside each other. */
async function expectEach(calls: Record<string, object>): Promise<void> {
  const each = Object.entries(calls).map(async ([line, expected]) =>
    expect(await pharos("dead-letter", ...line.split(" ")), line).toMatchObject(expected),
  );
  await Promise.all(each);
}

const refused = (sentence: string, code = 1) => ({ code, err: expect.stringContaining(sentence) });
const discarded = (count: number) => expect.stringContaining(`${count} discarded.`) as string;

async function untilCounted(
  made: { service_id: string; api_key: string },
  times: number,
): Promise<void> {
  const address = `${service.base}/api/v1/errors?service_id=${made.service_id}`;
  const count = async (): Promise<number[]> => {
    const response = await fetch(address, { headers: { "X-API-Key": made.api_key } });
    const { errors } = (await response.json()) as { errors: { occurrences: number }[] };
    return errors.map((error) => error.occurrences);
  };
  const options = { timeout: 30_000, interval: 200 };
  await vi.waitFor(async () => expect(await count()).toEqual([times]), options);
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
  const broken = {
    ...known,
    offset: 8n,
    entry: -1,
    reason: "not a frame",
    bytes: Buffer.from([0, 255, 1]),
    createdAt: new Date("2026-01-02T03:04:06Z"),
  } satisfies NewDeadLetter;
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
  await expectEach({
    "list --group metrics": { out: "There are no dead letters like that.\n" },
    [`show ${id}`]: { out: expect.stringContaining(body.toString()) },
    [`show ${brokenId}`]: { out: expect.stringContaining(broken.bytes.toString("base64")) },
  });

  await expectEach({ [`replay ${id}`]: { code: 0, out: expect.stringContaining("was put back") } });
  await untilCounted(made, 1);
  await expectEach({
    [`replay ${id}`]: refused("was replayed before. With --again"),
    [`discard ${id}`]: refused("was replayed before"),
    "replay --all": {
      code: 1,
      out: "0 put back, 1 were replayed before, 1 are no whole frame and stay.\n",
    },
    "replay --all --topic metrics": { code: 0, out: "0 put back.\n" },
    [`replay ${brokenId}`]: refused("no whole frame"),
    "show 01234567": refused("There is no dead letter 01234567"),
    replay: refused("or --all, is required", 2),
    [`replay ${id} --topic metrics`]: refused("go with --all", 2),
    bury: refused('no command "dead-letter bury"', 2),
  });
  await expectEach({ [`replay ${idOfDeadLetter(whole)} --again`]: { code: 0 } });
  await untilCounted(made, 2);
  await expectEach({ "discard --all --group errors": { code: 0, out: discarded(1) } });
  await expectEach({ [`replay ${brokenId}`]: refused("was discarded before") });

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
  await expectEach({ "discard --all": { code: 0, out: discarded(1) } });

  service.child.kill("SIGTERM");
  await service.exited;
  const stopped = (await pharos("dead-letter", "list")).out;
  expect(stopped).toContain("3 of 3 dead letters: 1 replayed, 2 discarded.\n");
  expect(stopped).toMatch(new RegExp(`\n${id} .* replayed .* 2 +it was too much\n`));
  await expectEach({
    "replay --all --again": { code: 0, out: "1 put back, 2 were discarded.\n" },
  });
  service = await startServiceProcess(environment);
  await untilCounted(made, 3);
});

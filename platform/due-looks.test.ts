import { setTimeout as rest } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { freshDatabase } from "../testing/postgres.ts";
import { startPostgresRelay } from "../testing/postgres-relay.ts";
import { systemClock } from "./clock.ts";
import { makeDueLooks } from "./due-looks.ts";
import { makeLog } from "./log.ts";
import { openDatabase, openLookingDatabase, type Database } from "./postgres/database.ts";

let database: Database;
let url: string;
let drop: () => Promise<void>;
const log = makeLog("silent");
beforeAll(async () => {
  ({ database, drop, url } = await freshDatabase());
  await database.execute(sql`create table due_moments (kind text, at timestamptz)`);
});
afterAll(() => drop());

const kind = (name: string) => (now: ReturnType<typeof sql>) => sql`exists (select from due_moments where kind = ${name} and at <= ${now})`;
const add = (name: string, at: number) => database.execute(sql`insert into due_moments values (${name}, ${new Date(at).toISOString()}::timestamptz)`);
const noted = (waiting: Promise<void>) => {
  const note = { over: false };
  void waiting.then(() => (note.over = true));
  return note;
};

it("wakes who waits for what is due, by the clock of its kind, and nobody else", async () => {
  let now = 1_000_000;
  let own = 0;
  const looks = makeDueLooks({ database, clock: { ...systemClock, now: () => now }, log, everyMs: 10 });
  const stopping = new AbortController();
  const [one, other, behind] = [looks.add(kind("one")), looks.add(kind("other")), looks.add(kind("behind"), { now: () => own })];
  const waits = [one, one, other, behind].map((untilDue) => noted(untilDue(stopping.signal)));
  const over = () => waits.map((wait) => wait.over);
  await add("behind", 2_000_000);
  await add("one", 2_000_000);
  now = 2_000_000;
  await expect.poll(over).toEqual([true, true, false, false]);
  own = 2_000_000;
  await expect.poll(over).toEqual([true, true, false, true]);
  stopping.abort();
  await expect.poll(over).toEqual([true, true, true, true]);
  await other(stopping.signal);
});

it("goes on looking when PostgreSQL was away, and when everybody had stopped waiting", async () => {
  const relay = await startPostgresRelay(url);
  const through = openDatabase(relay.url, 1, log);
  const looks = makeDueLooks({ database: through, clock: systemClock, log, everyMs: 10 });
  const untilDue = looks.add(kind("late"));
  try {
    const stopping = new AbortController();
    const given = untilDue(stopping.signal);
    stopping.abort();
    await given;
    await relay.cut();
    const wait = noted(untilDue(new AbortController().signal));
    await add("late", 0);
    await relay.mend();
    await expect.poll(() => wait.over).toBe(true);
  } finally {
    await through.$client.end();
    await relay.cut();
  }
});

it("says to who follows a condition what the last look found, that it holds while that is not known, and looks no more afterwards", async () => {
  const relay = await startPostgresRelay(url);
  const through = openLookingDatabase(relay.url, log);
  const asked = vi.spyOn(through, "execute");
  const looks = makeDueLooks({ database: through, clock: systemClock, log, everyMs: 10 });
  const stopping = new AbortController();
  const isDue = kind("followed");
  try {
    const [follows, alsoFollows] = [looks.follow(isDue, stopping.signal), looks.follow(isDue, stopping.signal)];
    expect([follows(), alsoFollows()]).toEqual([true, true]);
    await expect.poll(() => [follows(), alsoFollows()]).toEqual([false, false]);
    await relay.cut();
    await expect.poll(follows).toBe(true);
    await relay.mend();
    await expect.poll(follows).toBe(false);
    await add("followed", 0);
    await expect.poll(follows).toBe(true);
    const { rows } = await through.execute<{ mode: string; scans: string }>(sql`select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as scans`);
    expect(rows).toEqual([{ mode: "force_generic_plan", scans: "off" }]);
    stopping.abort();
    const looksWithin = async (ms: number): Promise<number> => {
      const before = asked.mock.calls.length;
      await rest(ms);
      return asked.mock.calls.length - before;
    };
    await expect.poll(() => looksWithin(100)).toBe(0);
  } finally {
    stopping.abort();
    await through.$client.end();
    await relay.cut();
  }
});

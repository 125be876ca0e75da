import { setTimeout as wait } from "node:timers/promises";
import { sql } from "drizzle-orm";
import type { DataStores } from "./data-stores.ts";
import type { LoadedVersion } from "./kill-old-service.ts";
import type { OpenRanges } from "./leave-open-ranges.ts";
import { EVENTS_OF_FRAMES, ROWS_OF_PINGS, ROWS_OF_PUSHES } from "./old-frames.ts";
import { LOADED } from "./old-load.ts";

/** Processors look for letters of older versions every ten seconds. */
const LETTERS_MS = 15_000;

/** Notes the sentence as a fault unless `reached`. */
export type Want = (reached: boolean, sentence: string) => void;

type Counts = Map<string, number>;

/** Compares the rows of errors and the counts of signatures with what was sent. */
export async function judgeErrors(stores: DataStores, { ledger, retries }: LoadedVersion, open: OpenRanges, want: Want): Promise<void> {
  const verdict = await ledger.judge(stores.clickhouse);
  want(verdict.acked > 1_000, `only ${verdict.acked} events were acked, which tries little`);
  want(verdict.lost === 0, `${verdict.lost} events were acked and are not stored`);
  want(verdict.doubled === 0, `${verdict.doubled} events are stored twice`);
  const [rows, counts] = await Promise.all([rowsByMessage(stores), countsByMessage(stores)]);
  const expected: Counts = new Map([...open.messages.map((message): [string, number] => [message, EVENTS_OF_FRAMES]), [retries.message, retries.events], [ledger.name, verdict.stored]]);
  for (const [message, wanted] of expected) {
    want(rows.get(message) === wanted, `ClickHouse holds ${rows.get(message)} rows of "${message}" instead of ${wanted}`);
    want(counts.get(message) === wanted, `PostgreSQL counts ${counts.get(message)} of "${message}" instead of ${wanted}`);
  }
  const beside = (rows.get(open.besideMessage) ?? 0) + (counts.get(open.besideMessage) ?? 0);
  want(beside === 0, "an old processor beside inserted or counted what it read after the upgrade");
  await judgeSignatures(stores, want);
}

async function judgeSignatures({ database, clickhouse }: DataStores, want: Want): Promise<void> {
  const stored = await clickhouse.query<{ id: string; rows: string }>("SELECT signature_id AS id, count() AS rows FROM beacon_events GROUP BY id");
  const aliases = await database.execute<{ id: string; signature_id: string }>(sql`select id, signature_id from error_aliases`);
  const partOf = new Map(aliases.rows.map(({ id, signature_id: signature }) => [id, signature]));
  const rows = new Map<string, number>();
  for (const { id, rows: some } of stored) rows.set(partOf.get(id) ?? id, (rows.get(partOf.get(id) ?? id) ?? 0) + Number(some));
  const counted = await database.execute<{ id: string; occurrences: string }>(sql`select id, occurrences::text from error_signatures`);
  const occurrences = new Map(counted.rows.map((row) => [row.id, row.occurrences]));
  const wrong = [...rows].filter(([id, some]) => Number(occurrences.get(id)) !== some);
  want(wrong.length === 0 && rows.size === occurrences.size, `${wrong.length} of ${rows.size} signatures count otherwise than their rows`);
  const [seen] = await clickhouse.query<{ named: string; seen: string }>(
    "SELECT (SELECT count() FROM beacon_events WHERE event_id_given) AS named, (SELECT count() FROM seen_event_ids FINAL) AS seen",
  );
  want(seen!.named === seen!.seen, `${seen!.seen} event ids of ${seen!.named} are known for retries`);
}

async function rowsByMessage({ clickhouse }: DataStores): Promise<Counts> {
  const rows = await clickhouse.query<{ message: string; rows: string }>("SELECT message, count() AS rows FROM beacon_events GROUP BY message");
  return new Map(rows.map(({ message, rows: count }) => [message, Number(count)]));
}

async function countsByMessage({ database }: DataStores): Promise<Counts> {
  const { rows } = await database.execute<{ message: string; count: string }>(sql`select message, sum(occurrences)::text as count from error_signatures group by message`);
  return new Map(rows.map(({ message, count }) => [message, Number(count)]));
}

/** Compares the rows of metrics and pings with what was sent. */
export async function judgeHistory({ clickhouse }: DataStores, { sent }: LoadedVersion, open: OpenRanges, want: Want): Promise<void> {
  const samples = await clickhouse.query<{ name: string; rows: string }>("SELECT replaceOne(name, '_more', '') AS name, count() AS rows FROM metric_samples GROUP BY name");
  const pings = await clickhouse.query<{ name: string; rows: string }>("SELECT message AS name, count() AS rows FROM heartbeat_pings GROUP BY name");
  const histories = [
    { what: "samples", rows: samples, names: open.metrics, exactly: ROWS_OF_PUSHES, load: sent.pushes },
    { what: "pings", rows: pings, names: open.pings, exactly: ROWS_OF_PINGS, load: sent.pings },
  ];
  for (const { what, rows, names, exactly, load } of histories) {
    const counts = new Map(rows.map(({ name, rows: count }) => [name, Number(count)]));
    for (const name of names) want(counts.get(name) === exactly, `ClickHouse holds ${counts.get(name)} ${what} of "${name}" instead of ${exactly}`);
    const loaded = counts.get(LOADED) ?? 0;
    want(loaded >= load.acked, `${load.acked - loaded} acked ${what} are not stored`);
    want(loaded <= load.acked + load.unsure, `${loaded - load.acked - load.unsure} ${what} are stored beyond all that were sent`);
  }
}

/** Each broken record is one letter, whichever versions put it aside. */
export async function judgeLetters(stores: DataStores, open: OpenRanges, want: Want): Promise<void> {
  await untilLetters(stores, open.broken.length);
  const { rows } = await stores.database.execute<{ topic: string; partition: number; state: string }>(sql`select topic, partition, state::text from dead_letters`);
  for (const { topic, partition } of open.broken) {
    const letters = rows.filter((letter) => letter.topic === topic && letter.partition === partition && letter.state === "open");
    want(letters.length === 1, `the broken record of ${topic}/${partition} is ${letters.length} open letters`);
  }
}

/** Resolves once so many letters are in the table, or after the time that they take at most. */
async function untilLetters({ database }: DataStores, count: number): Promise<void> {
  for (const deadline = performance.now() + LETTERS_MS; performance.now() < deadline; await wait(200)) {
    const { rows } = await database.execute<{ letters: number }>(sql`select count(*)::integer as letters from dead_letters`);
    if (rows[0]!.letters >= count) return;
  }
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { buildControlPlane } from "../control-plane/app.ts";
import { ALL_ROUTES } from "../control-plane/routes/all.ts";
import { createOrganization } from "../domain/organizations/create.ts";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { systemClock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { inTransaction, openDatabase, type Database, type Transaction } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { prepareLogins } from "../platform/postgres/logins.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { openTenants } from "../platform/postgres/tenants.ts";
import { services as servicesTable } from "../schemas/tables/all.ts";
import { machine, median, option, quantile, table } from "./measuring.ts";

/**
 * How long the lists, the details and the export of errors take over HTTP, one request at a time, at 20,000 signatures with 1,000,000 events
 * (the largest has a tenth of them) and 500 merged signatures, in four services, three environments and twenty releases over thirty days.
 * Postgres, ClickHouse and the control plane are real; the last shares this process with the client. Checks the numbers of sessions on the way.
 *
 *   npx tsx bench/reading.ts [--calls 30] [--signatures 20000] [--events 1000000] [--only release]
 *
 * Exits 1 when a list's median is over its goal.
 */
const CALLS = Number(option("calls", "30"));
const SIGNATURES = Number(option("signatures", "20000"));
const EVENTS = Number(option("events", "1000000"));
const ONLY = option("only", "");
const ALIASES = Math.floor(SIGNATURES / 40);
const SERVICES = 4;
/** Milliseconds, of a list with its total. */
const GOAL_MS = 50;
const DAY_MS = 86_400_000;

interface Place {
  organizationId: string;
  apiKey: string;
  serviceIds: string[];
}

/** A number's signature id, the same in both stores. */
const ID_IN_POSTGRES = (n: string) => sql.raw(`overlay(overlay(md5('s' || ${n}) placing '4' from 13) placing '8' from 17)::uuid`);
const ID_IN_CLICKHOUSE = (n: string) => `toUUID(replaceRegexpOne(lower(hex(MD5(concat('s', toString(${n}))))), '^(.{8})(.{4}).(.{3}).(.{3})(.{12})$', '\\\\1-\\\\2-4\\\\3-8\\\\4-\\\\5'))`;
/** Those above the last signature were merged into another. */
const MERGED_INTO = (n: string) => `if(${n} > ${SIGNATURES}, 1 + (${n} * 37) % ${SIGNATURES}, ${n})`;
/** A number from 0 to 1 that follows from the row's. */
const CHANCE = (salt: number) => `(cityHash64(number, ${salt}) / 18446744073709551615)`;

/** Frames as the details of an event have them: about a kilobyte of stack. */
const STACK = `concat('TypeError: cart ', toString(n), ' is not iterable', arrayStringConcat(arrayMap(i -> concat('\\n    at step', toString(i), 'Of', toString(n), ' (https://shop.example/assets/checkout-', toString(i), '.js:', toString(i + 1), ':', toString(n), ')'), range(12)), ''))`;

async function fillEvents(clickhouse: ClickHouse, { organizationId, serviceIds }: Place, now: number): Promise<void> {
  const chunk = 100_000;
  for (let from = 0; from < EVENTS; from += chunk) {
    await clickhouse.command(
      `INSERT INTO beacon_events (log_id, offset, organization_id, service_id, signature_id, event_id, type, received_at, occurred_at, session_id, user_id, release, environment,
         fingerprint, error_type, message, category, level, stack, causes, breadcrumbs, tags, url)
       SELECT 'bench', number, {organization:UUID}, arrayElement({services:Array(UUID)}, 1 + ${MERGED_INTO("n")} % ${SERVICES}), ${ID_IN_CLICKHOUSE("n")}, generateUUIDv4(), 'error', at, at - toIntervalMillisecond(number % 5000),
         if(number % 20 = 0, '', concat('session-', toString(cityHash64(number, 4) % 200000))), concat('user-', toString(number % 50000)),
         concat('1.', toString(20 - intDiv(age, ${1.5 * DAY_MS})), '.0'), multiIf(number % 49 = 0, 'development', number % 12 = 0, 'staging', 'production'),
         toString(n), 'TypeError', concat('cart ', toString(n), ' is not iterable'), 'javascript', 'error', ${STACK}, '[]', '[{"message":"clicked buy"}]', map('page', 'cart'), 'https://shop.example/cart'
       FROM (
         SELECT number, if(number % 10 = 0, 1, 2 + toUInt64(pow(${CHANCE(1)}, 3) * ${SIGNATURES + ALIASES - 1})) AS n,
           -- The first is seen all the time, the others for up to a week.
           toUInt64(if(n = 1, ${CHANCE(2)}, (cityHash64(n) / 18446744073709551615) * 0.77 + ${CHANCE(2)} * 0.23) * ${30 * DAY_MS - 1}) AS age,
           fromUnixTimestamp64Milli(toInt64({now:Int64} - age), 'UTC') AS at
         FROM numbers(${from}, ${Math.min(chunk, EVENTS - from)})
       )`,
      { organization: organizationId, services: serviceIds, now },
    );
  }
}

interface Counted {
  n: number;
  occurrences: number;
  first: string;
  last: string;
  environments: string[];
}

/** Rows of Postgres that say what the events do. */
async function fillSignatures(database: Database, clickhouse: ClickHouse, place: Place): Promise<void> {
  const counted = await clickhouse.query<Counted>(
    `SELECT toUInt32(${MERGED_INTO("toUInt64(fingerprint)")}) AS n, toUInt32(count()) AS occurrences, toString(min(occurred_at)) AS first, toString(max(occurred_at)) AS last, groupUniqArray(environment) AS environments FROM beacon_events GROUP BY n`,
  );
  await inTransaction(database, async (tx) => {
    await tx.execute(sql`set local statement_timeout = 0`);
    await insertSignatures(tx, counted, place);
  });
  await database.execute(sql`vacuum analyze`);
}

async function insertSignatures(tx: Transaction, counted: Counted[], { organizationId, serviceIds }: Place): Promise<void> {
  const services = sql`${`{${serviceIds.join(",")}}`}::uuid[]`;
  await tx.execute(sql`
    insert into error_signatures (id, organization_id, service_id, grouping_version, fingerprint, type, message, culprit, category, priority, handled, occurrences, first_seen, last_seen, release, environment, status, ignore_until)
    select ${ID_IN_POSTGRES("n")}, ${organizationId}, (${services})[1 + n % ${sql.raw(String(SERVICES))}], 'v1', n, 'TypeError', 'cart ' || n || ' is not iterable', 'step0Of' || n,
      (array['javascript', 'javascript', 'javascript', 'promise', 'network', 'message'])[1 + n % 6]::error_category, (array['critical', 'high', 'medium', 'low', 'low'])[1 + n % 5]::priority,
      false, occurrences, first::timestamptz, last::timestamptz, '1.0.0', 'production',
      (array['regressed', 'resolved', 'ignored', 'ignored', 'new', 'new', 'new', 'new', 'new', 'new'])[1 + n % 10]::error_status, case n % 10 when 2 then now() + interval '1 day' end
    from json_to_recordset(${JSON.stringify(counted)}) as each (n int, occurrences int, first text, last text)`);
  await tx.execute(sql`
    insert into error_stacks (signature_id, organization_id, stack_trace, frames, grouping_parts)
    select id, organization_id, repeat('    at step (https://shop.example/assets/checkout.js:1:1)' || chr(10), 18), '[]', '[]' from error_signatures`);
  await tx.execute(sql`
    insert into error_environments (organization_id, environment, signature_id)
    select ${organizationId}, environment, ${ID_IN_POSTGRES("n")} from json_to_recordset(${JSON.stringify(counted)}) as each (n int, environments json), json_array_elements_text(environments) as environment`);
  await tx.execute(sql`
    insert into error_aliases (id, organization_id, signature_id)
    select ${ID_IN_POSTGRES("n")}, ${organizationId}, ${ID_IN_POSTGRES(`(1 + (n::bigint * 37) % ${SIGNATURES})`)} from generate_series(${SIGNATURES + 1}::int, ${SIGNATURES + ALIASES}::int) as n
    where exists (select from error_signatures where id = ${ID_IN_POSTGRES(`(1 + (n::bigint * 37) % ${SIGNATURES})`)})`);
}

interface Signature {
  id: string;
  occurrences: number;
  sessions_affected: number;
}

/** The numbers of sessions of one page, against counting the events themselves. */
async function requireExactSessions(clickhouse: ClickHouse, signatures: Signature[]): Promise<void> {
  const rows = await clickhouse.query<{ id: string; sessions: string; events: string }>(
    `SELECT toString(into) AS id, toString(uniqExactIf(session_id, session_id != '')) AS sessions, toString(count()) AS events FROM
     (SELECT toUInt64(fingerprint) AS n, ${ID_IN_CLICKHOUSE(MERGED_INTO("n"))} AS into, session_id FROM beacon_events) WHERE into IN {ids:Array(UUID)} GROUP BY id`,
    { ids: signatures.map(({ id }) => id) },
  );
  const exact = new Map(rows.map(({ id, sessions, events }) => [id, `${sessions} of ${events}`]));
  for (const { id, sessions_affected: sessions, occurrences } of signatures) {
    if (exact.get(id) !== `${sessions} of ${occurrences}`) throw new Error(`${id} has ${exact.get(id)} sessions and events, and shows ${sessions} of ${occurrences}`);
  }
}

interface Request {
  name: string;
  path: string;
  /** Milliseconds; null where it only stands beside. */
  goal: number | null;
}

function requests(now: number, { serviceIds }: Place, largest: string): Request[] {
  const ago = (days: number) => new Date(now - days * DAY_MS).toISOString();
  const lists: Record<string, string> = {
    plain: "",
    "limit 100": "limit=100",
    service: `service_id=${serviceIds[1]}`,
    "status new": "status=new",
    "status ignored": "status=ignored",
    "environment production": "environment=production",
    "environment development": "environment=development",
    "latest release": "release=1.20.0",
    "release amid": "release=1.10.0",
    "release, limit 100": "release=1.10.0&limit=100",
    "unknown release": "release=9.9.9",
    "start date": `start_date=${ago(2)}`,
    "end date": `end_date=${ago(2)}`,
    "both dates, a day": `start_date=${ago(11)}&end_date=${ago(10)}`,
    "both dates, all": `start_date=${ago(31)}&end_date=${ago(0)}`,
    "release and environment": "release=1.10.0&environment=staging",
    "environment and start date": `environment=production&start_date=${ago(7)}`,
    "environment and both dates": `environment=production&start_date=${ago(31)}&end_date=${ago(0)}`,
    "release, status, service": `release=1.10.0&status=new&service_id=${serviceIds[1]}`,
    "release and both dates": `release=1.10.0&start_date=${ago(31)}&end_date=${ago(0)}`,
    "offset 10,000": `limit=100&offset=${SIGNATURES / 2}`,
    "offset 19,900": `limit=100&offset=${SIGNATURES - 100}`,
    "offset behind the end": "limit=100&offset=1000000",
  };
  const others: [string, string, number][] = [
    ["the largest signature", `/errors/${largest}`, GOAL_MS],
    ["its occurrences", `/errors/${largest}/occurrences`, GOAL_MS],
    ["its occurrences, offset 50,000", `/errors/${largest}/occurrences?limit=100&offset=${EVENTS / 20}`, GOAL_MS],
  ];
  const formats = ["csv", "json"].flatMap((format) => ["", `&start_date=${ago(31)}&end_date=${ago(0)}`].map((more): Request => ({ name: `export of 10,000 as ${format}${more && ", both dates"}`, path: `/errors/export?format=${format}&limit=10000${more}`, goal: null })));
  return [...Object.entries(lists).map(([name, query]) => ({ name: `list: ${name}`, path: `/errors?${query}`, goal: GOAL_MS })), ...others.map(([name, path, goal]) => ({ name, path, goal })), ...formats].filter(({ name }) => name.includes(ONLY));
}

/** How long ClickHouse was waited for, in ms, since this was last set to zero; queries side by side count twice. */
let clickhouseMs = 0;

/** Milliseconds until the answer's first byte, and until it has ended. */
async function timed(address: string, apiKey: string): Promise<{ first: number; whole: number; ofClickHouse: number; text: string }> {
  clickhouseMs = 0;
  const begun = performance.now();
  const answer = await fetch(address, { headers: { "x-api-key": apiKey } });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${await answer.text()}`);
  const chunks: Uint8Array[] = [];
  let first = 0;
  for await (const chunk of answer.body!) {
    first ||= performance.now() - begun;
    chunks.push(chunk);
  }
  return { first, whole: performance.now() - begun, ofClickHouse: clickhouseMs, text: Buffer.concat(chunks).toString() };
}

async function measure(base: string, place: Place, clickhouse: ClickHouse, now: number): Promise<boolean> {
  const { errors, total } = JSON.parse((await timed(`${base}/errors?limit=100`, place.apiKey)).text) as { errors: Signature[]; total: number };
  await requireExactSessions(clickhouse, errors);
  const largest = errors.toSorted((a, b) => b.occurrences - a.occurrences)[0]!;
  console.log(`${total} signatures; the largest has ${largest.occurrences} events in ${largest.sessions_affected} sessions\n`);
  let reached = true;
  const rows: (string | number)[][] = [["request", "p50, ms", "p99, ms", "first byte, ms", "ClickHouse, ms", "goal", "total", "KiB"]];
  for (const { name, path, goal } of requests(now, place, largest.id)) {
    const runs: Awaited<ReturnType<typeof timed>>[] = [];
    // The first ones warm up.
    for (let call = -2; call < CALLS; call++) {
      const run = await timed(base + path, place.apiKey);
      if (call >= 0) runs.push(run);
    }
    const whole = runs.map((run) => run.whole);
    const [, shown = ""] = /"total":(\d+)/.exec(runs[0]!.text) ?? [];
    rows.push([name, median(whole).toFixed(1), quantile(whole, 0.99).toFixed(1), median(runs.map(({ first }) => first)).toFixed(1), median(runs.map(({ ofClickHouse }) => ofClickHouse)).toFixed(1), goal ?? "", shown, Math.round(runs[0]!.text.length / 1024)]);
    if (goal !== null && median(whole) > goal) reached = false;
  }
  console.log(`${machine()}; ${CALLS} calls each\n\n${table(rows)}`);
  return reached;
}

const log = makeLog("warn");
const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
const [postgres, store] = await Promise.all([startEmbeddedPostgres({ folder: join(folder, "postgres"), log }), startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log })]);
try {
  await Promise.all([migrate(postgres.url, log), migrateClickHouse(store.url, log)]);
  const clickhouse = openClickHouse(store.url, log);
  const database = openDatabase(postgres.url, 10, log);
  const tenants = openTenants(await prepareLogins({ url: postgres.url, log }), 10, log);
  const { organizationId, apiKey, serviceId } = await createOrganization(database, { name: "Bench", plan: "team" });
  const more = Array.from({ length: SERVICES - 1 }, (_, number) => ({ id: newId(), organizationId, name: `Service ${number}` }));
  await database.insert(servicesTable).values(more);
  const place: Place = { organizationId, apiKey, serviceIds: [serviceId, ...more.map(({ id }) => id)] };
  const now = Date.now();
  await fillEvents(clickhouse, place, now);
  await fillSignatures(database, clickhouse, place);
  console.log(`Filled in ${((Date.now() - now) / 1000).toFixed(0)} s.`);
  const read = readConfig({ RATE_LIMIT_ANONYMOUS: "0", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0" });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  const query: ClickHouse["query"] = async (...given) => {
    const begun = performance.now();
    try {
      return await clickhouse.query(...given);
    } finally {
      clickhouseMs += performance.now() - begun;
    }
  };
  const app = await buildControlPlane({ database, databaseUrl: postgres.url, tenants, clickhouse: { ...clickhouse, query }, clock: systemClock, config: read.config, log, routes: ALL_ROUTES, edge: null });
  const base = `${await app.listen({ host: "127.0.0.1", port: 0 })}/api/v1`;
  process.exitCode = (await measure(base, place, clickhouse, now)) ? 0 : 1;
  await app.close();
  await Promise.all([clickhouse.close(), tenants.close(), database.$client.end()]);
} finally {
  await Promise.all([postgres.stop(), store.stop()]);
  await rm(folder, { recursive: true, force: true });
}

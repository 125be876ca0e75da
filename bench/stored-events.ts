import { sql } from "drizzle-orm";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { inTransaction, type Database, type Transaction } from "../platform/postgres/database.ts";

/** Whose events are stored. */
export interface StoredPlace {
  organizationId: string;
  apiKey: string;
  serviceIds: string[];
}

/** How much is stored, and over how many days before `now` (ms since the epoch). */
export interface StoredAmount {
  signatures: number;
  events: number;
  days: number;
  now: number;
}

export const DAY_MS = 86_400_000;
export const RELEASES = 20;
/** A signature but the first is seen for so much of the time, then no more. */
const SEEN_FOR = 0.23;
/** The first signature's part of what is drawn, so that it has a tenth of what is kept. */
const FIRST_OF = 40;
/** Kept of what is drawn; a little is drawn too much. */
const KEPT = (1 / FIRST_OF + (1 - 1 / FIRST_OF) * SEEN_FOR) * 0.97;
/** A session has so many events. */
const EVENTS_A_SESSION = 5;
const VITALS = ["CLS", "FCP", "INP", "LCP", "TTFB"];

/** Signatures that were merged into others. */
export const aliasesAmong = (signatures: number): number => Math.floor(signatures / 40);

/** A number's signature id, the same in both stores. */
const idInPostgres = (n: string) =>
  sql.raw(`overlay(overlay(md5('s' || ${n}) placing '4' from 13) placing '8' from 17)::uuid`);
export const idInClickHouse = (n: string): string =>
  `toUUID(replaceRegexpOne(lower(hex(MD5(concat('s', toString(${n}))))), '^(.{8})(.{4}).(.{3}).(.{3})(.{12})$', '\\\\1-\\\\2-4\\\\3-8\\\\4-\\\\5'))`;
/** Those above the last signature were merged into another. */
export const mergedInto = (n: string, signatures: number): string =>
  `if(${n} > ${signatures}, 1 + (${n} * 37) % ${signatures}, ${n})`;
/** A number from 0 to 1 that follows from the row's. */
const chance = (salt: number) => `(cityHash64(number, ${salt}) / 18446744073709551615)`;

/** Frames as the details of an event have them, as long as those of `bodies.ts`. */
const stackOf = (n: string) =>
  `concat('TypeError: cart ', toString(${n}), ' is not iterable', arrayStringConcat(arrayMap(i -> concat('\\n    at step', toString(i), 'Of', toString(${n}), ' (https://shop.example/a-', toString(i), '.js:', toString(i + 1), ':', toString(${n}), ')'), range(8)), ''))`;

/**
 * Has ClickHouse make the events, a day at a time and the oldest first, as they would have come: the tables behind
 * `beacon_events` fill by their views. One signature has a tenth of all, the others follow a skewed law and are seen for
 * some weeks each. For each ten events there is a vital.
 */
export async function storeEvents(clickhouse: ClickHouse, { organizationId, serviceIds }: StoredPlace, { signatures, events, days, now }: StoredAmount): Promise<void> {
  const aliases = aliasesAmong(signatures);
  const aDay = Math.ceil(events / days);
  const drawn = Math.ceil(aDay / KEPT);
  const ids = Array.from({ length: signatures + aliases + 1 }, (_, n) => n);
  await clickhouse.command("CREATE TABLE IF NOT EXISTS bench_signatures (n UInt32, id UUID, service UInt32, stack String) ENGINE = Join(ANY, LEFT, n)");
  await clickhouse.command("TRUNCATE TABLE bench_signatures");
  await clickhouse.command(
    `INSERT INTO bench_signatures SELECT number AS n, ${idInClickHouse("n")}, 1 + ${mergedInto("n", signatures)} % ${serviceIds.length}, ${stackOf("n")} FROM numbers(${ids.length})`,
  );
  const params = { organization: organizationId, services: serviceIds, now };
  for (let day = days - 1; day >= 0; day--) {
    const from = (days - 1 - day) * drawn;
    const rest = events - (days - 1 - day) * aDay;
    await clickhouse.command(
      `INSERT INTO beacon_events (log_id, offset, organization_id, service_id, signature_id, event_id, type, received_at, occurred_at, session_id, user_id, release, environment,
         fingerprint, error_type, message, category, level, stack, causes, breadcrumbs, tags, url)
       SELECT 'bench', number, {organization:UUID}, arrayElement({services:Array(UUID)}, joinGet('bench_signatures', 'service', n)), joinGet('bench_signatures', 'id', n), generateUUIDv4(), 'error', at, at - toIntervalMillisecond(number % 5000),
         if(${chance(5)} < 0.05, '', concat('s-${day}-', toString(cityHash64(number, 4) % ${Math.ceil(aDay / EVENTS_A_SESSION)}))), concat('user-', toString(number % 50000)),
         concat('1.', toString(${RELEASES} - intDiv(age, ${(days / RELEASES) * DAY_MS})), '.0'), multiIf(${chance(7)} < 0.02, 'development', ${chance(7)} < 0.1, 'staging', 'production'),
         toString(n), 'TypeError', concat('cart ', toString(n), ' is not iterable'), 'javascript', 'error', joinGet('bench_signatures', 'stack', n), '[]', '[{"message":"clicked buy"}]', map('page', 'cart'), 'https://shop.example/cart'
       FROM (
         SELECT number, toUInt32(if(number % ${FIRST_OF} = 0, 1, 2 + toUInt64(pow(${chance(1)}, 3) * ${signatures + aliases - 1}))) AS n,
           toUInt64((${day} + ${chance(2)}) * ${DAY_MS}) AS age,
           fromUnixTimestamp64Milli(toInt64({now:Int64} - age), 'UTC') AS at
         FROM numbers_mt(${from}, ${drawn})
         WHERE n = 1 OR positiveModulo(age / ${days * DAY_MS} - cityHash64(n) / 18446744073709551615, 1) < ${SEEN_FOR}
         LIMIT ${Math.max(0, Math.min(aDay, rest))}
       )`,
      params,
    );
    await clickhouse.command(
      `INSERT INTO beacon_events (log_id, offset, organization_id, service_id, event_id, type, received_at, occurred_at, session_id, release, environment, stack, causes, breadcrumbs, url, name, value)
       SELECT 'bench-vitals', number, {organization:UUID}, arrayElement({services:Array(UUID)}, 1 + number % ${serviceIds.length}), generateUUIDv4(), 'vital', at, at,
         concat('s-${day}-', toString(cityHash64(number, 4) % ${Math.ceil(aDay / EVENTS_A_SESSION)})), concat('1.', toString(${RELEASES} - intDiv(age, ${(days / RELEASES) * DAY_MS})), '.0'), 'production', '', '[]', '[]',
         'https://shop.example/cart', arrayElement([${VITALS.map((name) => `'${name}'`).join(", ")}], 1 + intDiv(number, ${serviceIds.length}) % ${VITALS.length}), round(${chance(6)} * 4000)
       FROM (SELECT number, toUInt64((${day} + ${chance(2)}) * ${DAY_MS}) AS age, fromUnixTimestamp64Milli(toInt64({now:Int64} - age), 'UTC') AS at
         FROM numbers_mt(${from}, ${Math.max(0, Math.ceil(Math.min(aDay, rest) / 10))}))`,
      params,
    );
  }
  await clickhouse.command("DROP TABLE bench_signatures");
}

interface Counted {
  n: number;
  occurrences: number;
  first: string;
  last: string;
  environments: string[];
}

/** Makes the rows of Postgres that say what the stored events do. */
export async function storeSignatures(database: Database, clickhouse: ClickHouse, place: StoredPlace, amount: StoredAmount): Promise<void> {
  const counted = await clickhouse.query<Counted>(
    `SELECT toUInt32(${mergedInto("toUInt64(fingerprint)", amount.signatures)}) AS n, toUInt32(count()) AS occurrences, toString(min(occurred_at)) AS first, toString(max(occurred_at)) AS last, groupUniqArray(environment) AS environments
     FROM beacon_events WHERE log_id = 'bench' GROUP BY n`,
    {},
    { timeoutMs: 900_000 },
  );
  await inTransaction(database, async (tx) => {
    await tx.execute(sql`set local statement_timeout = 0`);
    await insertSignatures(tx, counted, place, amount);
  });
  await database.execute(sql`vacuum analyze`);
}

async function insertSignatures(tx: Transaction, counted: Counted[], { organizationId, serviceIds }: StoredPlace, { signatures, days, now }: StoredAmount): Promise<void> {
  const services = sql`${`{${serviceIds.join(",")}}`}::uuid[]`;
  await tx.execute(sql`
    insert into error_signatures (id, organization_id, service_id, grouping_version, fingerprint, type, message, culprit, category, priority, handled, occurrences, first_seen, last_seen, release, environment, status, ignore_until)
    select ${idInPostgres("n")}, ${organizationId}, (${services})[1 + n % ${sql.raw(String(serviceIds.length))}], 'v1', n, 'TypeError', 'cart ' || n || ' is not iterable', 'step0Of' || n,
      (array['javascript', 'javascript', 'javascript', 'promise', 'network', 'message'])[1 + n % 6]::error_category, (array['critical', 'high', 'medium', 'low', 'low'])[1 + n % 5]::priority,
      false, occurrences, first::timestamptz, last::timestamptz, '1.0.0', 'production',
      (array['regressed', 'resolved', 'ignored', 'ignored', 'new', 'new', 'new', 'new', 'new', 'new'])[1 + n % 10]::error_status, case n % 10 when 2 then now() + interval '1 day' end
    from json_to_recordset(${JSON.stringify(counted)}) as each (n int, occurrences int, first text, last text)`);
  await tx.execute(sql`
    insert into error_stacks (signature_id, organization_id, stack_trace, frames, grouping_parts)
    select id, organization_id, repeat('    at step (https://shop.example/assets/checkout.js:1:1)' || chr(10), 18), '[]', '[]' from error_signatures where organization_id = ${organizationId}`);
  await tx.execute(sql`
    insert into error_environments (organization_id, environment, signature_id)
    select ${organizationId}, environment, ${idInPostgres("n")} from json_to_recordset(${JSON.stringify(counted)}) as each (n int, environments json), json_array_elements_text(environments) as environment`);
  const [from, to] = [signatures + 1, signatures + aliasesAmong(signatures)];
  const into = idInPostgres(`(1 + (n::bigint * 37) % ${signatures})`);
  await tx.execute(sql`
    insert into error_aliases (id, organization_id, signature_id)
    select ${idInPostgres("n")}, ${organizationId}, ${into} from generate_series(${from}::int, ${to}::int) as n where exists (select from error_signatures where id = ${into})`);
  await tx.execute(sql`
    insert into releases (id, organization_id, service_id, version, environment, created_at)
    select gen_random_uuid(), ${organizationId}, service, '1.' || version || '.0', 'production', ${new Date(now).toISOString()}::timestamptz - (${RELEASES}::int - version) * ${`${days / RELEASES} days`}::interval
    from unnest(${services}) as service, generate_series(0, ${RELEASES}::int) as version`);
}

interface ShownSignature {
  id: string;
  occurrences: number;
  sessions_affected: number;
}

/** Compares the numbers of a page with counting the events themselves; throws at the first that differs. */
export async function requireExactSessions(clickhouse: ClickHouse, shown: ShownSignature[], signatures: number): Promise<void> {
  const ids = shown.map(({ id }) => id);
  const rows = await clickhouse.query<{ id: string; sessions: string; events: string }>(
    `SELECT toString(into) AS id, toString(uniqExactIf(session_id, session_id != '')) AS sessions, toString(count()) AS events
     FROM (SELECT toUInt64(fingerprint) AS n, numbers.into AS into, session_id FROM beacon_events
       INNER JOIN (SELECT number AS n, ${idInClickHouse(mergedInto("number", signatures))} AS into FROM numbers(1, ${signatures + aliasesAmong(signatures)}) WHERE into IN {ids:Array(UUID)}) AS numbers ON numbers.n = toUInt64(fingerprint)
       WHERE log_id = 'bench') GROUP BY id`,
    { ids },
    { timeoutMs: 900_000 },
  );
  const exact = new Map(rows.map(({ id, sessions, events }) => [id, `${sessions} of ${events}`]));
  for (const { id, sessions_affected: sessions, occurrences } of shown) {
    if (exact.get(id) !== `${sessions} of ${occurrences}`) throw new Error(`${id} has ${exact.get(id)} sessions and events, and shows ${sessions} of ${occurrences}`);
  }
}

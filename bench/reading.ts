import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane } from "../control-plane/app.ts";
import { ALL_ROUTES } from "../control-plane/routes/all.ts";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { systemClock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { prepareLogins } from "../platform/postgres/logins.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { openTenants } from "../platform/postgres/tenants.ts";
import { machine, median, option, quantile, table } from "./measuring.ts";
import { storeData, tableSizes, untilMerged, type StoredData } from "./stored-data.ts";
import { requireExactSessions } from "./stored-events.ts";
import { storedRequests, timed, type Timed } from "./stored-requests.ts";

/**
 * How long the lists, the details and the export of errors take over HTTP, one request at a time, at 20,000 signatures with 1,000,000 events
 * (the largest has a tenth of them) and 500 merged signatures, in four services, three environments and twenty releases; beside them what
 * reads samples, vitals, results of checks and pings. Postgres, ClickHouse and the control plane are real; the last shares this process with
 * the client. Checks the numbers of sessions on the way.
 *
 *   npx tsx bench/reading.ts [--calls 30] [--signatures 20000] [--events 1000000] [--days 30] [--history 1000000] [--only release]
 *     [--folder path] [--check yes]
 *
 * With `--folder` the stores stay there, and a second run reads what the first one stored. `--check no` leaves the sessions alone: of
 * 100,000,000 events they take a while. Exits 1 when a list's median is over its goal.
 */
const CALLS = Number(option("calls", "30"));
const SIGNATURES = Number(option("signatures", "20000"));
const EVENTS = Number(option("events", "1000000"));
const DAYS = Number(option("days", "30"));
const HISTORY = Number(option("history", String(EVENTS)));
const ONLY = option("only", "");
const FOLDER = option("folder", "");
const CHECK = option("check", "yes") === "yes";
/** Milliseconds, of a list with its total. */
const GOAL_MS = 50;
const MERGING_MS = 600_000;

/** How long ClickHouse was waited for, in ms, since this was last set to zero; queries side by side count twice. */
let clickhouseMs = 0;

async function measure(base: string, stored: StoredData, clickhouse: ClickHouse): Promise<boolean> {
  const { errors, total } = JSON.parse((await timed(`${base}/errors?limit=100`, stored.apiKey)).text) as { errors: Parameters<typeof requireExactSessions>[1]; total: number };
  if (CHECK) await requireExactSessions(clickhouse, errors, stored.amount.signatures);
  const largest = errors.toSorted((a, b) => b.occurrences - a.occurrences)[0]!;
  console.log(`${total} signatures; the largest has ${largest.occurrences} events in ${largest.sessions_affected} sessions\n`);
  let reached = true;
  const rows: (string | number)[][] = [["request", "p50, ms", "p99, ms", "first byte, ms", "ClickHouse, ms", "goal", "total", "KiB"]];
  for (const { name, path, kind } of storedRequests(stored, largest.id).filter((each) => each.name.includes(ONLY))) {
    const runs: (Timed & { ofClickHouse: number })[] = [];
    // The first ones warm up.
    for (let call = -2; call < CALLS; call++) {
      clickhouseMs = 0;
      const run = await timed(base + path, stored.apiKey);
      if (call >= 0) runs.push({ ...run, ofClickHouse: clickhouseMs });
    }
    const whole = runs.map((run) => run.whole);
    const [, shown = ""] = /"total":(\d+)/.exec(runs[0]!.text) ?? [];
    const of = (figure: (run: (typeof runs)[number]) => number) => median(runs.map(figure)).toFixed(1);
    rows.push([name, median(whole).toFixed(1), quantile(whole, 0.99).toFixed(1), of(({ first }) => first), of(({ ofClickHouse }) => ofClickHouse), kind === "list" ? GOAL_MS : "", shown, Math.round(runs[0]!.text.length / 1024)]);
    if (kind === "list" && median(whole) > GOAL_MS) reached = false;
  }
  console.log(`${machine()}; ${CALLS} calls each\n\n${table(rows)}`);
  return reached;
}

const log = makeLog("warn");
const folder = FOLDER || (await mkdtemp(join(tmpdir(), "pharos-bench-")));
const [postgres, store] = await Promise.all([startEmbeddedPostgres({ folder: join(folder, "postgres"), log }), startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log })]);
try {
  await Promise.all([migrate(postgres.url, log), migrateClickHouse(store.url, log)]);
  const clickhouse = openClickHouse(store.url, log);
  const database = openDatabase(postgres.url, 10, log);
  const tenants = openTenants(await prepareLogins({ url: postgres.url, log }), 10, log);
  const stored = await storeData({ database, clickhouse }, folder, { signatures: SIGNATURES, events: EVENTS, days: DAYS, history: HISTORY, now: Date.now() });
  await untilMerged(clickhouse, MERGING_MS);
  console.log(`${table([["table", "rows", "bytes", "parts"], ...(await tableSizes(clickhouse)).map(({ table: name, rows, bytes, parts }) => [name, rows, bytes, parts])])}\n`);
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
  process.exitCode = (await measure(base, stored, clickhouse)) ? 0 : 1;
  await app.close();
  await Promise.all([clickhouse.close(), tenants.close(), database.$client.end()]);
} finally {
  await Promise.all([postgres.stop(), store.stop()]);
  if (FOLDER === "") await rm(folder, { recursive: true, force: true });
}

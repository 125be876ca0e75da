// Runs the compiled consumers of the older version on its stores; try-upgrade.ts starts it in a
// process of its own. Appends the given frames to the log, then processes partitions until one
// insert, at which it kills itself or waits. Prints what happens as lines of JSON.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/**
 * old: folder of the older version; logFolder, databaseUrl, clickhouseUrl: its stores;
 * frames: { topic, partition, and entries or, for a record that is no frame, bytes }; group: whose consumer; partitions: those it processes;
 * stopAt: before the insert of the range that reaches a partition's end ("opened"), after it
 * ("inserted"), or with that insert running in ClickHouse ("running").
 */
const work = JSON.parse(process.argv[2]);
const load = (path) => import(pathToFileURL(join(work.old, "dist", path)).href);
const tell = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

const [{ systemClock }, { openClickHouse }, { openEmbeddedLog }, { encodeFrame }, { makeLog }] = await Promise.all([
  load("platform/clock.js"), load("platform/clickhouse/client.js"), load("platform/event-log/embedded.js"),
  load("platform/event-log/frame.js"), load("platform/log.js"),
]);
const [{ makeMetrics }, { openDatabase }, { startWorkerPool }] = await Promise.all([
  load("platform/metrics.js"), load("platform/postgres/database.js"), load("platform/worker-pool.js"),
]);

const log = makeLog(work.logLevel ?? "warn");
const database = openDatabase(work.databaseUrl, 5, log);
const clickhouse = openClickHouse(work.clickhouseUrl, log);
const eventLog = await openEmbeddedLog({
  folder: work.logFolder, partitions: 4, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log,
});

const edgeId = randomUUID();
let sequence = 0n;
async function append({ topic, partition, entries, bytes }) {
  if (bytes !== undefined) {
    await eventLog.append(topic, partition, Buffer.from(bytes));
    return;
  }
  const frame = entries.map((entry) => ({
    requestNumber: 0, receivedAt: Date.now(), detached: true, ...entry, body: Buffer.from(entry.body),
  }));
  await eventLog.append(topic, partition, encodeFrame({ edgeId, sequence: (sequence += 1n) }, frame));
}
for (const frame of work.frames) await append(frame);

const TOPICS = { errors: "beacons", samples: "metrics", "ping-history": "heartbeats" };
const topic = TOPICS[work.group];
if (!topic) process.exit(0);
const ends = await eventLog.ends(topic);
let stopped = false;

/**
 * Whether this insert is of the range that reaches the first partition's end as it was at the start.
 * Another partition's range may be inserted at the same moment.
 */
async function isLast(token) {
  const { rows } = await database.$client.query(
    `select 1 from cursors where consumer_group = $1 and log_id = $2 and partition = $3 and range_last = $4
     and position(range_token::text in $5) > 0`,
    [work.group, eventLog.id, work.partitions[0], String(ends[work.partitions[0]] - 1n), token]);
  return rows.length > 0;
}

async function atInsert(table, token, insertInto) {
  const isAimed = !stopped && (await isLast(token));
  stopped ||= isAimed;
  if (isAimed && work.stopAt === "opened") process.kill(process.pid, "SIGKILL");
  if (isAimed && work.stopAt === "running") await insertSlowly(table, token, insertInto);
  await insertInto(table);
  if (isAimed) process.kill(process.pid, "SIGKILL");
}

/** An insert that takes minutes, as one of a busy ClickHouse may. */
async function insertSlowly(table, token, insertInto) {
  await clickhouse.command(`CREATE TABLE slow_rows AS ${table}`);
  await insertInto("slow_rows");
  const { host, pathname, password } = new URL(work.clickhouseUrl);
  const running = fetch(`http://${host}/?database=${pathname.slice(1)}&query_id=${encodeURIComponent(token)}`, {
    method: "POST",
    headers: { "X-ClickHouse-User": "default", "X-ClickHouse-Key": password },
    body: `INSERT INTO ${table} SELECT slow_rows.* FROM slow_rows CROSS JOIN (SELECT sum(sleepEachRow(2.9)) FROM numbers(60)) AS pause
      SETTINGS max_block_size = 1, max_threads = 1, insert_deduplication_token = '${token}'`,
  });
  const isRunning = async () => (await clickhouse.query("SELECT 1 FROM system.processes WHERE Settings['log_comment'] = {token:String}", { token })).length > 0;
  const answered = running.then(() => "answered");
  while (!(await isRunning())) if ((await Promise.race([answered, wait(50)])) === "answered") break;
  if (await isRunning()) tell({ event: "running" });
  const answer = await running;
  takenOver = true;
  tell({ event: "ended", ok: answer.ok, message: (await answer.text()).slice(0, 300) });
  throw new Error("the insert was ended");
}

/** Kafka says so to a consumer whose partition another one was given. */
let takenOver = false;
const owned = () => work.staysOwner === true || !takenOver;

const needs = {
  database, clock: systemClock, log, metrics: makeMetrics(),
  eventLog: {
    ...eventLog,
    consume: (options) => eventLog.consume({
      ...options,
      startAt: async (partition) => (work.partitions.includes(partition) ? options.startAt(partition) : ends[partition]),
      onRecords: (batch) => options.onRecords({ ...batch, owned: () => batch.partition !== work.partitions[0] || owned() }),
    }),
  },
  clickhouse: {
    ...clickhouse,
    insert: (table, rows, options) => atInsert(table, options.token, (into) => clickhouse.insert(into, rows, into === table ? options : {})),
    insertEncoded: (table, rows, options) => atInsert(table, options.token, (into) => clickhouse.insertEncoded(into, rows, into === table ? options : { token: randomUUID(), queryId: randomUUID() })),
  },
};

async function startConsumer() {
  if (work.group === "samples") return (await load("processors/metrics/keep-samples.js")).startSampleHistory(needs);
  if (work.group === "ping-history") return (await load("processors/heartbeats/keep-history.js")).startPingHistory(needs);
  const pool = startWorkerPool({
    file: join(work.old, "dist/processors/errors/worker.js"), name: "rowsOfRecords", threads: 1, deadlineMs: 30_000,
  });
  return (await load("processors/errors/consume.js")).startErrorConsumer({ ...needs, pool });
}

await startConsumer();
// What comes on the standard input is another frame, for a processor that runs on.
createInterface({ input: process.stdin }).on("line", (line) => void append(JSON.parse(line)).then(() => tell({ event: "appended" })));

// Run by exactly-once.flow.test.ts in a process of its own, which ends itself with SIGKILL at a given step.
import { systemClock } from "../../platform/clock.ts";
import { openClickHouse } from "../../platform/clickhouse/client.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { openDatabase } from "../../platform/postgres/database.ts";
import { moduleFile } from "../../platform/root.ts";
import { startWorkerPool } from "../../platform/worker-pool.ts";
import { cursors } from "../../schemas/tables/all.ts";
import { startErrorConsumer, type ErrorRowsPool } from "./consume.ts";

const [logFolder, databaseUrl, clickhouseUrl, dieAt] = process.argv.slice(2) as [string, string, string, string];

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const eventLog = await openEmbeddedLog({ folder: logFolder, partitions: 2, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
const database = openDatabase(databaseUrl, 5, log);
const clickhouse = openClickHouse(clickhouseUrl, log);
const pool: ErrorRowsPool = startWorkerPool({ file: moduleFile("./worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1, deadlineMs: 30_000 });

await startErrorConsumer({ eventLog, database, clickhouse, clock: systemClock, log, metrics: makeMetrics(), pool }, (step) => {
  if (step === dieAt) process.kill(process.pid, "SIGKILL");
});

const ends = await eventLog.ends("beacons");
// One that shall die at a step waits for that: it may see its last commit before it hears of it.
const isDone = (next: bigint | undefined, end: bigint): boolean => dieAt === "never" && (end === 0n || next === end);
for (;;) {
  const rows = await database.select().from(cursors);
  if (ends.every((end, partition) => isDone(rows.find((row) => row.partition === partition)?.nextOffset, end))) {
    // Node 20 aborts when a process ends while a thread of it still loads its module.
    await pool.run({ logId: eventLog.id, records: [] });
    process.exit(0);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}

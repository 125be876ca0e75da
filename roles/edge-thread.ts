/** The program of a thread that plays the edge; `edge-threads.ts` starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { systemClock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import { openLogByThread, type LogFacts } from "../platform/event-log/by-thread.ts";
import { openLog } from "../platform/event-log/open.ts";
import { makeLifecycle } from "../platform/lifecycle.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import type { ProbeAnswer } from "../platform/probes.ts";
import { makeThreadCalls, type ThreadCalls } from "../platform/thread-calls.ts";
import { startEdgeRole } from "./edge.ts";

/** What the thread is told at its start. */
export interface EdgeThreadData {
  config: Config;
  databaseUrl: string;
  clickhouseUrl: string;
  logFacts: LogFacts;
}

/** A figure of the thread, read when `/metrics` is asked for. */
export interface ObservedFigure {
  name: string;
  help: string;
}

/** An edge needs few: it asks for keys and tells of itself. */
const CONNECTIONS = 4;

const { config, databaseUrl, clickhouseUrl, logFacts } = workerData as EdgeThreadData;
const log = makeLog(config.LOG_LEVEL);
const lifecycle = makeLifecycle(log);
const observed = new Map<string, ObservedFigure & { read: () => number }>();
const byThread = openLogByThread(logFacts, () => calls);

const calls: ThreadCalls = makeThreadCalls(parentPort!, {
  ...byThread.handlers,
  start,
  stop: () => lifecycle.stop(),
  unready: () => lifecycle.unready(),
  figures: () => [...observed.values()].map(({ name, help }): ObservedFigure => ({ name, help })),
  figure: (name: string) => observed.get(name)!.read(),
});

async function start(port: number): Promise<void> {
  const database = openDatabase(databaseUrl, CONNECTIONS, log);
  lifecycle.add({ name: "postgres", stop: () => database.$client.end() });
  const clickhouse = openClickHouse(clickhouseUrl, log);
  lifecycle.add({ name: "clickhouse", stop: () => clickhouse.close() });
  await startEdgeRole({
    config: { ...config, EDGE_PORT: port },
    clock: systemClock,
    log,
    lifecycle,
    database,
    databaseUrl,
    clickhouse,
    eventLog: await openEventLog(),
    metrics: { observe: (name, help, read) => void observed.set(name, { name, help, read }) },
    // Of the whole process: the thread that started this one knows the rest.
    probes: (path, address) => calls.call<ProbeAnswer | null>("probe", { path, address }),
  });
}

/** Kafka is another process anyway; the embedded log is open in the thread that started this one. */
async function openEventLog() {
  if (config.KAFKA_BROKERS.length === 0) return byThread.log;
  const eventLog = await openLog({ config, clock: systemClock, log });
  lifecycle.add({ name: "event log", stop: () => eventLog.close() });
  return eventLog;
}

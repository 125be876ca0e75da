import { watchDeadLetters } from "../processors/dead-letters/watch-dead-letters.ts";
import { startErrorConsumer, startOverflowConsumer, type ErrorRowsPool } from "../processors/errors/consume.ts";
import { makePrecedence } from "../processors/errors/precedence.ts";
import { startHeartbeatConsumer } from "../processors/heartbeats/consume.ts";
import { startPingHistory } from "../processors/heartbeats/keep-history.ts";
import { startMetricsConsumer, type EvaluationPool } from "../processors/metrics/consume.ts";
import { startSampleHistory } from "../processors/metrics/keep-samples.ts";
import type { Group } from "../domain/errors/group-again.ts";
import { makeLateMaps } from "../processors/late-maps/regroup-late.ts";
import type { GroupsTask } from "../processors/late-maps/worker.ts";
import { moduleFile } from "../platform/root.ts";
import { startWorkerPool, type WorkerPool } from "../platform/worker-pool.ts";
import { startMapServer, withMaps } from "../processors/errors/serve-maps.ts";
import type { House } from "./house.ts";

/** Metrics are evaluated inside a transaction, which Postgres ends by itself when it stands idle for half a minute. */
const EVALUATION_DEADLINE_MS = 10_000;

/** The role that turns what the edges took in into rows, signatures, states and answers. */
export async function startProcessorRole(house: House): Promise<void> {
  const { config, lifecycle } = house;
  const threads = config.WORKER_THREADS;
  const detailsPerMinute = config.ERROR_DETAILS_PER_MINUTE;
  const bounds = { signatures: config.ERROR_SIGNATURES_PER_DAY, releases: config.RELEASES_PER_DAY, environments: config.ENVIRONMENTS_PER_DAY };
  const errorRows: ErrorRowsPool = startWorkerPool({ file: moduleFile("../processors/errors/worker.ts", import.meta.url), name: "rowsOfRecords", threads, deadlineMs: config.WORKER_DEADLINE_MS });
  // A share of its own, however much of it there is.
  const overflowRows: ErrorRowsPool = startWorkerPool({ file: moduleFile("../processors/errors/worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1, kept: 0, deadlineMs: config.WORKER_DEADLINE_MS });
  const evaluation: EvaluationPool = startWorkerPool({ file: moduleFile("../processors/metrics/worker.ts", import.meta.url), name: "evaluateBatch", threads: 1, deadlineMs: Math.min(config.WORKER_DEADLINE_MS, EVALUATION_DEADLINE_MS) });
  const groups: WorkerPool<GroupsTask, Group[]> = startWorkerPool({ file: moduleFile("../processors/late-maps/worker.ts", import.meta.url), name: "groupsOfRows", threads: 1, kept: 0, deadlineMs: config.WORKER_DEADLINE_MS });
  const maps = startMapServer({ ...house, bytes: config.SOURCE_MAP_CACHE_MB * 1024 * 1024 });
  lifecycle.add({
    name: "worker threads",
    async stop() {
      await maps.stop();
      await Promise.all([errorRows.close(), overflowRows.close(), groups.close(), evaluation.close()]);
    },
  });

  const lateMaps = makeLateMaps({ ...house, pool: withMaps(groups, maps), maps });
  lateMaps.start();
  lifecycle.add({ name: "late source maps", stop: () => lateMaps.stop() });

  const letters = watchDeadLetters(house);
  letters.start();
  lifecycle.add({ name: "dead letters", stop: () => letters.stop() });

  const precedence = makePrecedence();
  const quietMs = config.QUIET_BATCH_MS;
  const starts = [
    () => startErrorConsumer({ ...house, quietMs, pool: withMaps(errorRows, maps), precedence, detailsPerMinute, bounds }),
    () => startOverflowConsumer({ ...house, quietMs, pool: withMaps(overflowRows, maps), precedence, detailsPerMinute, bounds }),
    () => startMetricsConsumer({ ...house, pool: evaluation }),
    () => startHeartbeatConsumer(house),
    () => startSampleHistory({ ...house, quietMs }),
    () => startPingHistory({ ...house, quietMs }),
  ];
  const consumers = await Promise.all(starts.map((start) => start()));
  lifecycle.add({
    name: "consumers",
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  });
}

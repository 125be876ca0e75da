import { startErrorConsumer, type ErrorRowsPool } from "../processors/errors/consume.ts";
import { startHeartbeatConsumer } from "../processors/heartbeats/consume.ts";
import { startPingHistory } from "../processors/heartbeats/keep-history.ts";
import { startMetricsConsumer, type EvaluationPool } from "../processors/metrics/consume.ts";
import { startSampleHistory } from "../processors/metrics/keep-samples.ts";
import { moduleFile } from "../platform/root.ts";
import { startWorkerPool } from "../platform/worker-pool.ts";
import type { House } from "./house.ts";

/** The role that turns what the edges took in into rows, signatures, states and answers. */
export async function startProcessorRole(house: House): Promise<void> {
  const { config, lifecycle } = house;
  const threads = config.WORKER_THREADS;
  const errorRows: ErrorRowsPool = startWorkerPool({ file: moduleFile("../processors/errors/worker.ts", import.meta.url), name: "rowsOfRecords", threads });
  const evaluation: EvaluationPool = startWorkerPool({ file: moduleFile("../processors/metrics/worker.ts", import.meta.url), name: "evaluateBatch", threads: 1 });
  lifecycle.add({
    name: "worker threads",
    async stop() {
      await Promise.all([errorRows.close(), evaluation.close()]);
    },
  });

  const starts = [
    () => startErrorConsumer({ ...house, pool: errorRows }),
    () => startMetricsConsumer({ ...house, pool: evaluation }),
    () => startHeartbeatConsumer(house),
    () => startSampleHistory(house),
    () => startPingHistory(house),
  ];
  const consumers = await Promise.all(starts.map((start) => start()));
  lifecycle.add({
    name: "consumers",
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  });
}

import { applyPushes, type ReceivedPush } from "../../domain/metrics/apply-pushes.ts";
import { evaluateBatch, type ServiceBatch, type ServiceOutcome } from "../../domain/metrics/evaluate-batch.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import type { WorkerPool } from "../../platform/worker-pool.ts";
import { readMetricsPush, type PushEffect } from "../../schemas/messages/metrics-push.ts";
import { readJson } from "../../schemas/messages/read-json.ts";
import type { DatabaseConsumerNeeds } from "../consume/needs.ts";
import type { PlacedEntry } from "../consume/fresh-frames.ts";
import { startTransactionalConsumer } from "../consume/transactional.ts";
import { makeReplySender } from "./send-replies.ts";

export type EvaluationPool = WorkerPool<ServiceBatch[], ServiceOutcome[]>;

/** So many pushes are judged within a few ms; their way to a thread and back would take longer, and longer of this thread too. */
const JUDGED_HERE = 5_000;

interface Push extends ReceivedPush {
  /** Who waits for the evaluation; null when nobody does. */
  waiting: { edgeId: string; requestNumber: number } | null;
}

/** How long a stop waits for answers that are on their way. */
const DRAIN_MS = 2_000;

/** Pushes → evaluated in a worker → opinions, history, outbox and incidents in one transaction → answers to the edges that wait. */
export async function startMetricsConsumer(needs: DatabaseConsumerNeeds & { pool: EvaluationPool }): Promise<Consumer> {
  const { eventLog, clock, log, metrics, pool } = needs;
  const replies = makeReplySender({ eventLog, log });
  metrics.observe("pharos_metrics_replies_dropped", "Answers to pushes that were given up since the start: their senders heard 202 instead of 200.", () => replies.dropped());
  const consumer = await startTransactionalConsumer(needs, {
    topic: "metrics",
    group: "metrics",
    prepare: async (entries) => entries.flatMap(pushOf),
    apply: async (transaction, pushes) => ({ pushes, effects: await applyPushes(transaction, pushes, { now: new Date(clock.now()), evaluate: (batches) => (pushes.length <= JUDGED_HERE ? evaluateBatch(batches) : pool.run(batches)) }) }),
    // The next batch does not wait for the answers of this one.
    afterCommit({ pushes, effects }) {
      for (const [edgeId, results] of answersByEdge(pushes, effects)) replies.send(edgeId, results);
    },
  });
  return {
    ...consumer,
    async stop() {
      await consumer.stop();
      await replies.drain(DRAIN_MS);
    },
  };
}

/** The edge has read the body by the same functions; one that they refuse now was taken in by another version and says nothing. */
function pushOf({ head, entry }: PlacedEntry): Push[] {
  const reading = readMetricsPush(readJson(entry.body));
  if (reading.kind === "invalid") return [];
  const waiting = entry.detached ? null : { edgeId: head.edgeId, requestNumber: entry.requestNumber };
  return [{ organizationId: entry.organizationId, serviceId: entry.subjectId, receivedAt: entry.receivedAt, push: reading.push, waiting }];
}

function answersByEdge(pushes: Push[], effects: PushEffect[]): Map<string, { requestNumber: number; body: string }[]> {
  const answers = new Map<string, { requestNumber: number; body: string }[]>();
  for (const [index, { waiting }] of pushes.entries()) {
    if (waiting === null) continue;
    const ofEdge = answers.get(waiting.edgeId) ?? [];
    // An effect is never empty: what it says follows its brace.
    ofEdge.push({ requestNumber: waiting.requestNumber, body: `{"success":true,${JSON.stringify(effects[index]!).slice(1)}` });
    answers.set(waiting.edgeId, ofEdge);
  }
  return answers;
}

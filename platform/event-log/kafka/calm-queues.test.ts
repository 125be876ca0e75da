import { createRequire } from "node:module";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { calmQueues, type RequestQueue } from "./calm-queues.ts";

interface WholeQueue extends RequestQueue {
  throttleCheckTimeoutId: unknown;
  checkPendingRequests(): void;
  maybeThrottle(ms: number): void;
  push(request: object): void;
  destroy(): void;
}

const require = createRequire(import.meta.url);
type Make = new (options: object) => WholeQueue;
const Queue = require("kafkajs/src/network/requestQueue") as Make;

beforeAll(calmQueues);

function makeQueue(): WholeQueue {
  const queue = new Queue({ requestTimeout: 1_000, logger: { debug: () => undefined } });
  onTestFinished(() => queue.destroy());
  return queue;
}

test("a connection without waiting requests has no timer", () => {
  const queue = makeQueue();
  queue.checkPendingRequests();
  expect(queue.throttleCheckTimeoutId).toBeFalsy();
});

test("a request that a throttled broker keeps waiting is sent when that ends", async () => {
  const queue = makeQueue();
  const started = performance.now();
  queue.maybeThrottle(50);
  await new Promise<void>((resolve) => {
    queue.push({ entry: { correlationId: 1 }, expectResponse: true, sendRequest: resolve });
    expect(queue.pending).toHaveLength(1);
  });
  expect(performance.now() - started).toBeGreaterThan(45);
  expect(queue.pending).toHaveLength(0);
  expect(queue.throttleCheckTimeoutId).toBeFalsy();
});

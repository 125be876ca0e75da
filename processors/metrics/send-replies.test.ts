import { expect, test } from "vitest";
import { makeLog } from "../../platform/log.ts";
import { decodeReplies, repliesTo, type RepliesMessage } from "../../schemas/messages/replies.ts";
import { makeReplySender, type ReplyLimits } from "./send-replies.ts";

/** A log whose calls the test settles one by one. */
function gatedLog() {
  const calls: { channel: string; message: RepliesMessage; succeed(): void; fail(): void }[] = [];
  const notify = (channel: string, message: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      calls.push({ channel, message: decodeReplies(message), succeed: resolve, fail: () => reject(new Error("away")) });
    });
  return { calls, eventLog: { notify } };
}

const results = (...numbers: number[]) => numbers.map((requestNumber) => ({ requestNumber, body: `{"n":${requestNumber}}` }));
const numbersOf = ({ message }: { message: RepliesMessage }) => message.results.map(({ requestNumber }) => requestNumber);
const settled = () => new Promise((resolve) => setImmediate(resolve));

function sender(limits: Partial<ReplyLimits> = {}) {
  const { calls, eventLog } = gatedLog();
  return { calls, replies: makeReplySender({ eventLog, log: makeLog("silent"), limits: { waiting: 100, bytes: 1e6, messageBytes: 1e6, ...limits } }) };
}

test("an edge whose answers are not taken keeps no other edge waiting, and its own stay in order", async () => {
  const { calls, replies } = sender();
  replies.send("slow", results(1));
  replies.send("quick", results(2));
  await settled();
  expect(calls.map(({ channel }) => channel)).toEqual(["slow", "quick"]);
  replies.send("slow", results(3, 4));
  replies.send("slow", results(5));
  calls[1]!.succeed();
  replies.send("quick", results(6));
  await settled();
  expect(calls.map(numbersOf)).toEqual([[1], [2], [6]]);
  calls[0]!.succeed();
  await settled();
  expect(calls.map(numbersOf)).toEqual([[1], [2], [6], [3, 4, 5]]);
});

test("above the limit the oldest answers are given up, whichever edge they are for", async () => {
  const { calls, replies } = sender({ waiting: 4 });
  replies.send("a", results(1));
  replies.send("b", results(2));
  await settled();
  replies.send("a", results(3));
  replies.send("b", results(4, 5));
  replies.send("a", results(6, 7, 8));
  expect(replies.dropped()).toBe(2);
  for (const call of calls.splice(0)) call.succeed();
  await settled();
  expect(calls.map(numbersOf)).toEqual([[6, 7, 8], [5]]);
});

test("bytes are bounded too, and a message holds no more than a record may", async () => {
  const { calls, replies } = sender({ bytes: 600, messageBytes: 150 });
  replies.send("a", results(...Array.from({ length: 100 }, (_, number) => number)));
  expect(replies.dropped()).toBeGreaterThan(80);
  const drained = replies.drain(10_000);
  for (await settled(); calls.length > 0; await settled()) {
    const call = calls.shift()!;
    expect(call.message.results.length).toBeLessThanOrEqual(2);
    call.succeed();
  }
  await drained;
  expect(await replies.drain(10_000)).toBeUndefined();
});

test("answers that the log refuses are given up, and the next are sent", async () => {
  const { calls, replies } = sender();
  replies.send("a", results(1, 2));
  await settled();
  replies.send("a", results(3));
  calls[0]!.fail();
  await settled();
  expect(replies.dropped()).toBe(2);
  expect(numbersOf(calls[1]!)).toEqual([3]);
});

test("an edge tells its own replies from those to others without reading them", async () => {
  const { calls, replies } = sender();
  replies.send("edge-1", results(1));
  await settled();
  const bytes = Buffer.from(JSON.stringify({ type: "replies", version: 1, edgeId: "edge-1", results: calls[0]!.message.results }));
  expect([repliesTo("edge-1")(bytes), repliesTo("edge-")(bytes), repliesTo("edge-2")(bytes), repliesTo("edge-1")(bytes.subarray(0, 9))]).toEqual([true, false, false, false]);
});

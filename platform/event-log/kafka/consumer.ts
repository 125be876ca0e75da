import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Admin, Batch, Consumer as KafkaConsumer, EachBatchPayload, Kafka } from "kafkajs";
import { systemClock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { beyondEnd } from "../beyond-end.ts";
import type { ConsumeOptions, Consumer, LogRecord } from "../port.ts";
import { fetchEnds, messageOf } from "./client.ts";

export interface KafkaConsumerNeeds {
  client: Kafka;
  admin: Admin;
  topicName: string;
  groupName: string;
  partitions: number;
  /** The one partition to read, for a group whose only member this is; the others are assigned to it and never fetched. */
  only?: number;
  log: Log;
  /** One fetch holds at most so much over all partitions; unless given, four times `maxBytes`. */
  fetchBytes?: number;
  /** How many times larger records may get when they are unpacked: so many times less is fetched; unless given, 1. */
  growth?: number;
}

export type KafkaConsumeOptions = Pick<ConsumeOptions, "startAt" | "onRecords" | "beforeRecords" | "onRevoked" | "maxBytes">;

/** A partition as this member holds it between two assignments. */
interface Held {
  partition: number;
  /** To be fetched next, behind what is queued; null until `startAt` has answered. */
  read: bigint | null;
  /** Fetched and not processed. */
  queue: LogRecord[];
  queuedBytes: number;
  /** Of the partition, when it was last fetched. */
  end: bigint;
  heartbeat(): Promise<void>;
  /** So much is queued that nothing is fetched. */
  paused: boolean;
  working: boolean;
  /** The offset that was sought because the broker began above it; begins it there again, the records are gone. */
  sought: bigint | null;
  failures: number;
  committedAt: number;
}

const MAX_BYTES = 8 * 1024 * 1024;
const SESSION_MS = 10_000;
const HEARTBEAT_MS = 1_500;
/** How old the last sign of life may be for a partition to count as ours; half of the session, after which others may have it. */
const OWNED_MS = 5_000;
/** A member that fetches for so long without a confirmed sign of life is none any more: in that time it sends three. */
const SILENT_MS = 5_000;
/** A fetch waits at the broker; data ends it at once. */
const FETCH_WAIT_MS = 250;
const COMMIT_EVERY_MS = 1_000;
const PAUSES_MS = [50, 100, 200, 500, 1_000, 2_000];

/**
 * Reads a topic as a member of a group. Kafka decides which member has a partition, the caller (`startAt`) where reading
 * starts; offsets are committed to Kafka only so that its tools show the lag. Resolves once the first assignment is
 * located; rejects with StartFailure when a start lies beyond a partition's end. Lost connections, crashes of the client
 * and rebalances are survived without end.
 */
export async function startKafkaConsumer(needs: KafkaConsumerNeeds, options: KafkaConsumeOptions): Promise<Consumer> {
  const { client, admin, topicName, groupName, partitions, only, log, growth = 1 } = needs;
  const { startAt, onRecords, beforeRecords, onRevoked } = options;
  const fetchBytes = needs.fetchBytes ?? 4 * (options.maxBytes ?? MAX_BYTES);
  const maxBytes = Math.min(options.maxBytes ?? MAX_BYTES, fetchBytes);
  const held = new Map<number, Held>();
  /** The last of the calls for each partition: one runs at a time, over assignments too. */
  const calls = new Map<number, Promise<void>>();
  let consumer: KafkaConsumer | null = null;
  const stopping = new AbortController();
  const { signal } = stopping;
  let endMember = (): void => undefined;
  /** Monotonic ms at which the last confirmed sign of life was sent; and the last one that was answered at all. */
  let lastBeat = -Infinity;
  let lastSent = -Infinity;
  let located = (): void => undefined;
  let refused = (_error: Error): void => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    located = resolve;
    refused = reject;
  });

  const isMine = (mine: Held): boolean => !signal.aborted && held.get(mine.partition) === mine;
  const owned = (mine: Held): boolean => held.get(mine.partition) === mine && systemClock.monotonic() - lastBeat <= OWNED_MS;

  function revokeAll(): void {
    for (const partition of held.keys()) onRevoked?.(partition);
    held.clear();
  }

  function onJoin(member: KafkaConsumer, assigned: number[]): void {
    revokeAll();
    lastBeat = lastSent;
    if (signal.aborted) return;
    // Nothing is fetched before the caller has said where to start; the member's heartbeats go on meanwhile.
    if (assigned.length > 0) member.pause([{ topic: topicName, partitions: assigned }]);
    const wanted = only === undefined ? assigned : assigned.filter((partition) => partition === only);
    const locating = wanted.map((partition) => {
      const mine: Held = { partition, read: null, queue: [], queuedBytes: 0, end: 0n, heartbeat: () => Promise.resolve(), paused: false, working: false, sought: null, failures: 0, committedAt: -Infinity };
      held.set(partition, mine);
      return oneAtATime(partition, () => locate(member, mine));
    });
    void Promise.all(locating).then(() => located());
  }

  function oneAtATime(partition: number, call: () => Promise<void>): Promise<void> {
    const next = (calls.get(partition) ?? Promise.resolve()).then(call).catch((error: unknown) => log.error({ err: error, groupName, topicName, partition }, "a consumer's call failed"));
    calls.set(partition, next);
    return next;
  }

  async function locate(member: KafkaConsumer, mine: Held): Promise<void> {
    const { partition } = mine;
    while (isMine(mine)) {
      try {
        const wanted = await startAt(partition);
        const end = (await fetchEnds(admin, topicName))[partition]!;
        if (!isMine(mine)) return;
        if (wanted > end) {
          const failure = beyondEnd(`${topicName}/${partition}`, wanted, end);
          log.error({ groupName, topicName, partition }, failure.message);
          refused(failure);
          return;
        }
        mine.read = wanted;
        member.seek({ topic: topicName, partition, offset: String(wanted) });
        member.resume([{ topic: topicName, partitions: [partition] }]);
        return;
      } catch (error) {
        log.warn({ err: messageOf(error), groupName, topicName, partition }, "could not tell where to start reading; it is tried again");
        await pause(mine.failures++);
      }
    }
  }

  /**
   * Only queues what was fetched: kafkajs fetches all partitions together, and the next time when every call of this has ended, so that
   * a partition whose records take long would keep the others' from being fetched.
   */
  function eachBatch({ batch, heartbeat, resolveOffset }: EachBatchPayload): Promise<void> {
    const mine = held.get(batch.partition);
    if (mine && mine.read !== null && isMine(mine)) take(mine, mine.read, batch, { heartbeat, resolveOffset });
    return Promise.resolve();
  }

  function take(mine: Held, wanted: bigint, batch: Batch, { heartbeat, resolveOffset }: Pick<EachBatchPayload, "heartbeat" | "resolveOffset">): void {
    const records = recordsFrom(batch, wanted);
    const [first, last] = [records[0]?.offset, records.at(-1)?.offset];
    if (first === undefined || last === undefined || (first > wanted && mine.sought !== wanted)) {
      mine.sought = wanted;
      seek(mine, wanted);
      return;
    }
    resolveOffset(String(last));
    mine.read = last + 1n;
    mine.end = BigInt(batch.highWatermark);
    mine.heartbeat = heartbeat;
    for (const record of records) mine.queue.push(record);
    mine.queuedBytes += sizeOf(records);
    if (mine.queuedBytes >= maxBytes / 2 && !mine.paused) {
      mine.paused = true;
      consumer!.pause([{ topic: topicName, partitions: [mine.partition] }]);
    }
    if (mine.working) return;
    mine.working = true;
    void oneAtATime(mine.partition, () => work(mine));
  }

  function seek({ partition }: Held, offset: bigint): void {
    consumer!.seek({ topic: topicName, partition, offset: String(offset) });
  }

  /** Hands on what is queued; what could not be processed stays there and is handed on again after a pause. */
  async function work(mine: Held): Promise<void> {
    while (isMine(mine) && mine.queue.length > 0) {
      const done = await beforeRecords?.(mine.partition);
      const records = isMine(mine) ? upTo(maxBytes, mine.queue) : [];
      const next = records.length > 0 ? await deliver(mine, records) : null;
      done?.();
      if (next === null) continue;
      // A caller that wants the same records again may wait for what needs a turn of the loop.
      if (next <= records[0]!.offset) await nextTurn();
      if (!isMine(mine)) break;
      dropBelow(mine, next, records[0]!.offset);
      commit(consumer!, mine, next);
      if (mine.paused && mine.queuedBytes < maxBytes / 2) {
        mine.paused = false;
        consumer!.resume([{ topic: topicName, partitions: [mine.partition] }]);
      }
    }
    // In the same turn as the look into the queue: whoever queues next must find nobody at work.
    mine.working = false;
  }

  /** Of the queue; when records are wanted that are not in it, all of it, and they are fetched. */
  function dropBelow(mine: Held, next: bigint, first: bigint): void {
    const kept = next < first || next > mine.read! ? [] : mine.queue.filter(({ offset }) => offset >= next);
    if (kept.length === 0 && next !== mine.read) {
      mine.read = next;
      seek(mine, next);
    }
    mine.queue = kept;
    mine.queuedBytes = sizeOf(kept);
  }

  /** The offset to read next, or null when the same records shall come again. */
  async function deliver(mine: Held, records: LogRecord[]): Promise<bigint | null> {
    const { partition, heartbeat } = mine;
    const beat = () => keepAlive(heartbeat);
    try {
      const next = await onRecords({ partition, records, end: mine.end, owned: () => owned(mine), keepAlive: beat });
      mine.failures = 0;
      return next;
    } catch (error) {
      if (!isMine(mine)) return null;
      log.warn({ err: error, groupName, topicName, partition, offset: String(records[0]!.offset) }, "records could not be processed; they come again");
      await pause(mine.failures++);
      await beat();
      return null;
    }
  }

  /** Never rejects: when the group is being rebalanced the call may end its work, for Kafka waits for us to join again. */
  async function keepAlive(heartbeat: () => Promise<void>): Promise<void> {
    try {
      await heartbeat();
    } catch (error) {
      if ((error as { type?: unknown }).type === "REBALANCE_IN_PROGRESS") lastBeat = lastSent;
    }
  }

  function commit(member: KafkaConsumer, mine: Held, next: bigint): void {
    const now = systemClock.monotonic();
    if (now - mine.committedAt < COMMIT_EVERY_MS) return;
    mine.committedAt = now;
    member.commitOffsets([{ topic: topicName, partition: mine.partition, offset: String(next) }]).catch((error: unknown) => log.debug({ err: messageOf(error), groupName, topicName }, "could not show Kafka how far was read"));
  }

  /** Longer with each failure in a row; a stop ends it. */
  async function pause(failures: number): Promise<void> {
    await delay(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)], undefined, { signal }).catch(() => undefined);
  }

  /** One member of the group, until the client gives up (its reason) or we stop (null). */
  async function runMember(): Promise<Error | null> {
    const member = client.consumer({
      groupId: groupName,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: 3 * SESSION_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      minBytes: 1,
      maxBytesPerPartition: Math.ceil(maxBytes / growth),
      maxBytes: Math.ceil(Math.min(4 * maxBytes, fetchBytes) / growth),
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: () => Promise.resolve(false) },
    });
    const { events } = member;
    const crashed = new Promise<Error>((resolve) => member.on(events.CRASH, ({ payload }) => resolve(payload.error)));
    const asked = new Promise<null>((resolve) => (endMember = () => resolve(null)));
    const expelled = new Promise<Error>((resolve) => watchSilence(member, () => resolve(new Error("the group has forgotten this consumer"))));
    member.on(events.REQUEST, ({ payload: { apiName, duration } }) => {
      // By the time of sending: an answer that a process reads after it stood still for an hour proves nothing about now.
      if (apiName === "Heartbeat" || apiName === "SyncGroup") lastSent = systemClock.monotonic() - duration;
    });
    member.on(events.HEARTBEAT, () => void (lastBeat = lastSent));
    member.on(events.REBALANCING, revokeAll);
    member.on(events.GROUP_JOIN, ({ payload }) => onJoin(member, payload.memberAssignment[topicName] ?? []));
    try {
      consumer = member;
      await member.connect();
      await member.subscribe({ topics: [topicName], fromBeginning: true });
      await member.run({ autoCommit: false, eachBatchAutoResolve: false, partitionsConsumedConcurrently: partitions, eachBatch });
      return signal.aborted ? null : await Promise.race([crashed, asked, expelled]);
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    } finally {
      await member.disconnect().catch((error: unknown) => log.debug({ err: messageOf(error), groupName }, "a consumer did not disconnect cleanly"));
      revokeAll();
    }
  }

  /**
   * A member that Kafka has forgotten joins again, but when that fails once (the coordinator is still loading its groups), kafkajs
   * goes on fetching as nobody's member: it sends no heartbeat, hears of no rebalance, and would stay so for good.
   */
  function watchSilence(member: KafkaConsumer, onSilent: () => void): void {
    let since: number | null = null;
    member.on(member.events.HEARTBEAT, () => void (since = null));
    member.on(member.events.GROUP_JOIN, () => void (since = null));
    member.on(member.events.FETCH, () => {
      const now = systemClock.monotonic();
      since ??= now;
      if (now - since > SILENT_MS) onSilent();
    });
  }

  async function runForever(): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const startedAt = systemClock.monotonic();
      const error = await runMember();
      if (error === null) return;
      if (systemClock.monotonic() - startedAt > SESSION_MS) failures = 0;
      log.warn({ err: messageOf(error), groupName, topicName }, "a consumer lost Kafka; it joins again");
      await pause(failures);
    }
  }

  const finished = runForever();
  async function stop(): Promise<void> {
    stopping.abort();
    // While they run the member lives: whoever takes the partitions over finds nothing half done.
    await Promise.all(calls.values());
    endMember();
    await finished;
  }
  try {
    await ready;
  } catch (error) {
    await stop();
    throw error;
  }
  function readAgain(partition: number, from: bigint): void {
    const mine = held.get(partition);
    if (!mine || mine.read === null) return;
    void oneAtATime(partition, async () => {
      if (!isMine(mine)) return;
      mine.queue = [];
      mine.queuedBytes = 0;
      mine.read = from;
      seek(mine, from);
    });
  }

  return { stop, readAgain };
}

function sizeOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { value }) => sum + value.byteLength, 0);
}

/** The first records, of so many bytes at most, but at least one. */
function upTo(maxBytes: number, records: readonly LogRecord[]): LogRecord[] {
  let bytes = 0;
  const taken = records.findIndex(({ value }, at) => (bytes += value.byteLength) > maxBytes && at > 0);
  return taken < 0 ? [...records] : records.slice(0, taken);
}

function recordsFrom(batch: Batch, wanted: bigint): LogRecord[] {
  const records: LogRecord[] = [];
  for (const { offset, value } of batch.messages) {
    const at = BigInt(offset);
    if (at >= wanted) records.push({ offset: at, value: value ?? Buffer.alloc(0) });
  }
  return records;
}

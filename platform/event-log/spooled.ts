import { mkdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { TOPICS, type Topic } from "../../schemas/vocabulary.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { LogUnavailable, type WritableLog } from "./port.ts";
import { startAdopting } from "./spool/adopt.ts";
import { closeSlot, isSent, openSlot, unsentBytes, unsentFrames, type OpenSlot } from "./spool/open-slot.ts";
import { takeFreeSlot, type HeldSlot } from "./spool/slots.ts";
import { hasFile } from "./spool/store.ts";

/** What the edge appends its frames through. */
export interface Appender {
  /**
   * Takes a frame whose oldest entry was received at `receivedAt`, for good: into the log, or onto this machine's disk, from where it
   * goes to the log later under its number. Frames of a partition keep their order as long as each call waits for the one before.
   * Rejects with NotTaken when the frame is nowhere, or with LogUnavailable when it may be in the log: then it has to be
   * given again, the same bytes, or never be called refused.
   */
  append(topic: Topic, partition: number, frame: Buffer, receivedAt: number): Promise<"logged" | "spooled">;
  /** Why frames are refused just now, or null. */
  unready(): string | null;
}

/** Nobody has the frame, nor ever will. */
export class NotTaken extends LogUnavailable {
  constructor(reason: string, cause?: unknown) {
    super(reason, cause);
    this.name = "NotTaken";
  }
}

/** Straight into the log: for one on this machine, where a spool would be on the same disk. */
export function appendDirectly(eventLog: WritableLog): Appender {
  return {
    async append(topic, partition, frame) {
      await eventLog.append(topic, partition, frame);
      return "logged";
    },
    unready: () => null,
  };
}

export interface SpoolNeeds {
  eventLog: WritableLog;
  /** Shared by all edges that see this disk; each has a slot of its own in it. */
  folder: string;
  limits: SpoolLimits;
  clock: Clock;
  log: Log;
}

export interface SpoolLimits {
  /** Unsent bytes that this edge's own slot may hold. */
  bytes: number;
  /** How long the log may take for a frame before it is spooled, in ms. */
  appendMs: number;
  /** How often orphaned slots are looked for, in ms. */
  adoptEveryMs: number;
  /** A drained slot whose file is larger than this is made anew, which gives the disk back. */
  renewBytes: number;
}

export const SPOOL_LIMITS = { adoptEveryMs: 5_000, renewBytes: 64 * 1024 * 1024 };

export interface Spool extends Appender {
  /** Unsent bytes and frames, those of adopted slots too. */
  bytes(): number;
  frames(): number;
  /** When the oldest unsent entry of a topic (or of all) was received, ms since the epoch; null when there is none. */
  oldestUnsentAt(topic?: Topic): number | null;
  /** Edges before us whose frames were found here. */
  formerEdges(): string[];
  /** What is unsent stays on the disk, for the next edge. Calls of `append` have to be over. */
  stop(): Promise<void>;
}

/** A spool that was full takes frames again when it holds less than this part of what it held. */
const FREE_AGAIN = 0.95;
/** While the log is known to be away, a partition that has not met that yet waits only so long for it. */
const AWAY_MS = 100;
/** A frame waits so long for a new file. */
const RENEW_MS = 1_000;

/**
 * Frames go to the log while it takes them in time, else into this edge's slot of the spool, which is sent in order; a partition
 * with unsent frames takes newer ones behind them. Slots of edges that died are found and sent by those that live. Throws
 * StartFailure when the folder cannot be used.
 */
export async function openSpool(needs: SpoolNeeds): Promise<Spool> {
  const { eventLog, folder, limits, clock, log } = needs;
  const slotNeeds = { eventLog, partitions: Math.max(...TOPICS.map((topic) => eventLog.partitions(topic))), clock, log };
  const unusable = new Set<number>();
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Set by a frame that was refused, until there is room: so much unsent, or one that can be written again. */
  let refusing: { reason: string; untilBytes: number | null } | null = null;
  let renewing: Promise<void> | null = null;
  /** The log did not take the last frame that it was asked to take, of whichever partition. */
  let away = false;
  let own = await openOwn();
  const adopter = await startAdopting({ ...slotNeeds, folder, everyMs: limits.adoptEveryMs, unusable, noteUnusable });

  async function openOwn(): Promise<OpenSlot> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (let number = 0; ; number++) {
        const held = takeFreeSlot(folder, number);
        number = held.number;
        const opened = unusable.has(number) ? held.release() : await openOrPass(held);
        if (opened && fits(opened)) return opened;
        // Of a log with fewer partitions: left to be drained as an orphan's.
        if (opened) await closeSlot(opened, log);
      }
    } catch (error) {
      if (error instanceof StartFailure) throw error;
      throw new StartFailure(`The spool's folder ${folder} cannot be used: ${(error as Error).message}.`, { fix: "Let the user that runs Pharos write there, free some space, or set PHAROS_DATA_DIR to another folder.", cause: error });
    }
  }

  /** Null for a slot whose file was there and is damaged: another one serves as well. */
  async function openOrPass(held: HeldSlot): Promise<OpenSlot | null> {
    const hadFile = hasFile(held.folder);
    try {
      return await openSlot(slotNeeds, held, () => void renewOwn());
    } catch (error) {
      if (!hadFile) throw error;
      noteUnusable(held, error);
      return null;
    }
  }

  function noteUnusable({ number, folder: slotFolder }: HeldSlot, error: unknown): void {
    log.error({ err: error, folder: slotFolder }, "a slot of the spool cannot be opened; its frames stay there");
    unusable.add(number);
  }

  function fits({ store }: OpenSlot): boolean {
    return TOPICS.every((topic) => store.lanes.filter((lane) => lane.topic === topic).length >= eventLog.partitions(topic));
  }

  /** Once drained: a file that has grown large, or could not be written to, is given back to the disk. */
  async function renewOwn(): Promise<void> {
    const large = (await own.store.fileBytes().catch(() => 0)) > limits.renewBytes;
    if (renewing || signal.aborted || (!large && !refusing) || !isSent(own)) return;
    renewing = closeSlot(own, log).then(reopenOwn);
  }

  async function reopenOwn(): Promise<void> {
    while (!signal.aborted) {
      try {
        own = await openOwn();
        refusing = null;
        break;
      } catch (error) {
        refusing = { reason: error instanceof Error ? error.message : String(error), untilBytes: null };
        log.error({ err: error }, "the spool cannot be opened again; trying on");
        await delay(1_000, undefined, { signal }).catch(() => undefined);
      }
    }
    renewing = null;
  }

  async function append(topic: Topic, partition: number, frame: Buffer, receivedAt: number): Promise<"logged" | "spooled"> {
    let refusal: Error | null = null;
    const isBehind = () => !own.store.isEmpty(own.store.lane(topic, partition));
    if (isBehind()) await own.drain.handOver(own.store.lane(topic, partition));
    if (!isBehind()) {
      refusal = await tryLog(topic, partition, frame);
      if (refusal === null) return "logged";
      log.debug({ topic, partition, err: refusal.message }, "the event log did not take a frame in time; it is spooled");
    }
    const reason = await spool(topic, partition, frame, receivedAt);
    if (reason === null) return "spooled";
    throw refusal === null ? new NotTaken(reason) : new LogUnavailable(reason, refusal);
  }

  /** Null once the log has it, else why it may not have it. */
  async function tryLog(topic: Topic, partition: number, frame: Buffer): Promise<Error | null> {
    let timer: NodeJS.Timeout | undefined;
    const waitMs = away ? Math.min(AWAY_MS, limits.appendMs) : limits.appendMs;
    const late = new Promise<Error>((resolve) => {
      // Made only then: an error notes where it was made, which costs more than all else here.
      timer = setTimeout(() => resolve(new LogUnavailable(`it did not answer within ${waitMs} ms`)), waitMs);
    });
    const appended = eventLog.append(topic, partition, frame).then(
      () => {
        away = false;
        return null;
      },
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    const result = await Promise.race([appended, late]);
    clearTimeout(timer);
    if (result !== null) away = true;
    return result;
  }

  /** Null once it is on the disk, else why it is not. */
  async function spool(topic: Topic, partition: number, frame: Buffer, receivedAt: number): Promise<string | null> {
    if (renewing) await Promise.race([renewing, delay(RENEW_MS)]);
    if (renewing) return refusing?.reason ?? `the spool ${folder} is being made anew`;
    const slot = own;
    const { store, drain, held } = slot;
    const lane = store.lane(topic, partition);
    const taken = unsentBytes(slot);
    if (isFull()) return refusing!.reason;
    if (taken + frame.byteLength > limits.bytes) {
      refusing = { reason: `the spool ${held.folder} is full (${taken} of ${limits.bytes} bytes wait for the event log)`, untilBytes: FREE_AGAIN * taken };
      return refusing.reason;
    }
    try {
      await store.append(lane, frame, receivedAt);
    } catch (error) {
      refusing = { reason: `the spool ${held.folder} cannot be written to (${error instanceof Error ? error.message : String(error)})`, untilBytes: null };
      if (isSent(slot)) void renewOwn();
      return refusing.reason;
    }
    refusing = null;
    drain.wake(lane);
    return null;
  }

  const isFull = () => typeof refusing?.untilBytes === "number" && unsentBytes(own) > refusing.untilBytes;
  const open = () => [own, ...adopter.slots()];

  return {
    append,
    unready() {
      if (typeof refusing?.untilBytes === "number" && !isFull()) refusing = null;
      return refusing?.reason ?? null;
    },
    bytes: () => open().reduce((sum, slot) => sum + unsentBytes(slot), 0),
    frames: () => open().reduce((sum, slot) => sum + unsentFrames(slot), 0),
    oldestUnsentAt(topic) {
      const times = open().flatMap(({ store }) => store.lanes.flatMap((lane) => (lane.oldestAt !== null && (topic === undefined || lane.topic === topic) ? [lane.oldestAt] : [])));
      return times.length === 0 ? null : Math.min(...times);
    },
    formerEdges: () => [...new Set([...adopter.formerEdges(), ...own.store.edgeIds])],
    async stop() {
      stopping.abort();
      await renewing;
      await Promise.all([adopter.stop(), closeSlot(own, log)]);
    },
  };
}

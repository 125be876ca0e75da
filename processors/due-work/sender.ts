import { setMaxListeners } from "node:events";
import { setTimeout as rest } from "node:timers/promises";
import { makeBell } from "./bell.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { UntilDue } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway } from "../../platform/postgres/database.ts";

/** What sends to others: it is woken, and what it began when it is stopped gets some time to end. */
export interface Sender {
  start(): void;
  /** Looks for work at once, as when something was announced. */
  wake(): void;
  /** Claims no more, lets running attempts finish for half of SHUTDOWN_LIMIT_MS and gives the others back. */
  stop(): Promise<void>;
}

interface SenderNeeds {
  config: Pick<Config, "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS">;
  log: Log;
  /** Names the work in the log: "webhook deliveries". */
  what: string;
  /** Claims and begins what is due; returns when something is next, in ms, Infinity when nothing is planned. */
  look(): Promise<number>;
  /** Wakes it when something is due that nobody announced. */
  untilDue: UntilDue;
  /** When all that was begun has ended. */
  finished(): Promise<void>;
}

interface MadeSender extends Sender {
  /** Gives up what still runs. */
  giveUp: AbortSignal;
  /** Until what an attempt brought is recorded: it must not be lost because Postgres is away for a while. Rejects with what else goes wrong, four times over. */
  untilRecorded<T>(record: () => Promise<T>): Promise<T>;
}

/** What happens within so many ms is claimed together: looks begin at least so far apart. */
const GATHER_MS = 50;

/** The longest pause between tries while Postgres is away, in ms. */
const LONGEST_PAUSE_MS = 5_000;

/** The longest that a timer takes. */
const LONGEST_REST_MS = 2 ** 31 - 1;

/** The loop of a sender: it looks when it is woken, when its rest is over, and again and again while Postgres is away. */
export function makeSender({ config, log, what, look, untilDue, finished }: SenderNeeds): MadeSender {
  /** No more is claimed; later, what still runs is given up. */
  const stopping = new AbortController();
  const giveUp = new AbortController();
  // Every attempt listens to it.
  setMaxListeners(0, giveUp.signal);
  const bell = makeBell();
  let looping: Promise<void> = Promise.resolve();

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const began = performance.now();
        const restMs = await look();
        failures = 0;
        await restFor(restMs);
        await pause(began + GATHER_MS - performance.now(), stopping.signal);
      } catch (error) {
        log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, `could not look for ${what}; trying again`);
        failures++;
        // Not the bell: what rings it would turn the pause into a busy loop.
        await pause(config.SCHEDULER_TICK_MS * failures, stopping.signal);
      }
    }
  }

  async function restFor(milliseconds: number): Promise<void> {
    const rested = new AbortController();
    void untilDue(rested.signal).then(() => rested.signal.aborted || bell.ring());
    await bell.wait(Math.min(milliseconds, LONGEST_REST_MS));
    rested.abort();
  }

  return {
    giveUp: giveUp.signal,
    async untilRecorded(record) {
      for (let failures = 0; ; failures++) {
        try {
          return await record();
        } catch (error) {
          if (giveUp.signal.aborted || (!isPostgresAway(error) && failures >= 3)) throw error;
          log.debug({ err: error }, `could not record one of the ${what}; trying again`);
          await pause(250 * (failures + 1), giveUp.signal);
        }
      }
    },
    start() {
      looping = loop();
    },
    wake: bell.ring,
    async stop() {
      stopping.abort();
      bell.ring();
      const limit = setTimeout(() => giveUp.abort(), config.SHUTDOWN_LIMIT_MS / 2);
      await looping;
      await finished();
      clearTimeout(limit);
    },
  };
}

/** How long a look may rest until a moment, in ms; Infinity when nothing is planned. */
export function msUntil(next: Date | null, clock: Clock): number {
  return next === null ? Number.POSITIVE_INFINITY : Math.max(next.getTime() - clock.now(), 0);
}

/** At most LONGEST_PAUSE_MS, and no longer than until `signal`. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await rest(Math.min(milliseconds, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
}

import { readFloods } from "../../domain/floods/read.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";

export interface WatchedFloods {
  /** Whether events of an organization may stand in both topics of beacons; true for all while it is not known. */
  perhaps(organizationId: string): boolean;
  stop(): void;
}

const READ_MS = 300;
/** Less than the notice that an edge gives. */
const KNOWN_FOR_MS = 1_000;

/** Keeps an eye on which organizations' beacons go to `beacons-overflow`. */
export async function watchFloods({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Promise<WatchedFloods> {
  let known: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function read(): Promise<void> {
    const begun = clock.monotonic();
    try {
      known = new Set((await readFloods(database, clock.now())).map(({ organizationId }) => organizationId));
      readAt = begun;
    } catch (error) {
      log.debug({ err: error }, "could not read who sends more than its share; meanwhile every id is looked up");
    }
    if (!stopped) timer = setTimeout(() => void read(), READ_MS);
  }

  await read();
  return {
    perhaps: (organizationId) => clock.monotonic() - readAt > KNOWN_FOR_MS || known.has(organizationId),
    stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}

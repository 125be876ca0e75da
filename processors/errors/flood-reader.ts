import { readFloods } from "../../domain/floods/read.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";

/** Whether events of an organization may stand in both topics of beacons. */
export type ElsewhereToo = (organizationId: string) => boolean;

/** What was read is good for so long. An edge gives five times this notice before beacons go elsewhere. */
const GOOD_FOR_MS = 300;

/**
 * Reads which organizations' beacons go to `beacons-overflow`, when somebody asks. While PostgreSQL is away it may be any of them, and each
 * id is looked up. Never rejects.
 */
export function makeFloodReader({ database, clock, log }: { database: Database; clock: Clock; log: Log }): () => Promise<ElsewhereToo> {
  let known: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;

  return async () => {
    const begun = clock.monotonic();
    if (begun - readAt > GOOD_FOR_MS) {
      try {
        known = new Set((await readFloods(database, clock.now())).map(({ organizationId }) => organizationId));
        readAt = begun;
      } catch (error) {
        log.debug({ err: error }, "could not read who sends more than its share; meanwhile every id is looked up");
        return () => true;
      }
    }
    const flooded = known;
    return (organizationId) => flooded.has(organizationId);
  };
}

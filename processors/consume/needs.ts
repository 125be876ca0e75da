import type { Clock } from "../../platform/clock.ts";
import type { DueLooks } from "../../platform/due-looks.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import type { Database } from "../../platform/postgres/database.ts";

/** What every consumer needs. */
export interface ConsumerNeeds {
  eventLog: EventLog;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Says whether what follows from a proof is near; without it all proofs are written down as they are made. */
  looks?: Pick<DueLooks, "follow">;
}

/** What a consumer needs that writes to PostgreSQL. */
export interface DatabaseConsumerNeeds extends ConsumerNeeds {
  database: Database;
  /** Batches of events begin so far apart while few events come, in ms. Without it, as far apart as under load. */
  quietMs?: number;
}

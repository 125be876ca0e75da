import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import type { DueLooks } from "../platform/due-looks.ts";
import type { EventLog } from "../platform/event-log/port.ts";
import type { Lifecycle } from "../platform/lifecycle.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { Database } from "../platform/postgres/database.ts";
import type { Logins } from "../platform/postgres/logins.ts";
import type { Probes } from "../platform/probes.ts";

/** What every role stands on: the open stores and the process' own things. */
export interface House {
  config: Config;
  clock: Clock;
  log: Log;
  lifecycle: Lifecycle;
  metrics: Metrics;
  probes: Probes;
  database: Database;
  /** For connections outside the pool, such as LISTEN. */
  databaseUrl: string;
  logins: Logins;
  clickhouse: ClickHouse;
  clickhouseUrl: string;
  eventLog: EventLog;
  /** One statement looks for the due work of all roles. */
  looks: DueLooks;
}

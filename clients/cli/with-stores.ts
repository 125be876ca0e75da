import { systemClock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { openLogByDoor, type PlainLog } from "../../platform/event-log/door.ts";
import { logFolder, openLog } from "../../platform/event-log/open.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { StartFailure } from "../../platform/start-failure.ts";
import { withDataFolder } from "./with-data-folder.ts";
import { withDatabaseOf } from "./with-database.ts";

interface Stores {
  database: Database;
  eventLog: PlainLog;
}

/** Runs `work` on the service's database (see `withDatabase`) and its event log. */
export async function withStores<T>(
  config: Config,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const onBoth = (held: StartFailure | null): Promise<T> =>
    withDatabaseOf(config, held, (database) =>
      withEventLog(config, held, (eventLog) => work({ database, eventLog })),
    );
  const allElsewhere = config.DATABASE_URL && config.KAFKA_BROKERS.length > 0;
  return allElsewhere ? onBoth(null) : withDataFolder(config, onBoth);
}

/**
 * The Kafka of KAFKA_BROKERS; else the embedded log, through the process that holds the data folder
 * when another does.
 */
async function withEventLog<T>(
  config: Config,
  heldByAnother: StartFailure | null,
  work: (eventLog: PlainLog) => Promise<T>,
): Promise<T> {
  if (heldByAnother && config.KAFKA_BROKERS.length === 0) {
    const eventLog = await openLogByDoor(logFolder(config));
    if (eventLog === null) throw heldByAnother;
    return work(eventLog);
  }
  return closing(await openSilently(config), work);
}

function openSilently(config: Config): Promise<EventLog> {
  return openLog({ config, clock: systemClock, log: makeLog("silent") });
}

async function closing<T>(
  eventLog: EventLog,
  work: (eventLog: PlainLog) => Promise<T>,
): Promise<T> {
  try {
    return await work(eventLog);
  } finally {
    await eventLog.close();
  }
}

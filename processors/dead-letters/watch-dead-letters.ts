import { countOpenDeadLetters } from "../../domain/dead-letters/list-dead-letters.ts";
import { ClickHouseUnavailable, type ClickHouse } from "../../platform/clickhouse/port.ts";
import { LogUnavailable, type EventLog } from "../../platform/event-log/port.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import { deleteStandingRows } from "./delete-standing-rows.ts";
import { importLetterTopic } from "./import-letter-topic.ts";

const EVERY_MS = 10_000;

interface WatchNeeds {
  eventLog: EventLog;
  database: Database;
  clickhouse: ClickHouse;
  metrics: Metrics;
  log: Log;
}

/**
 * What a processor does for dead letters: it brings those of an older Pharos over, deletes the rows
 * that letters left in ClickHouse, and counts the open ones. One step that fails does not keep the
 * others.
 */
export function watchDeadLetters(needs: WatchNeeds): Repeating {
  const { log } = needs;
  return repeat({
    pauseMs: EVERY_MS,
    work: async () => {
      await importLetterTopic(needs).catch(told);
      const more = await deleteStandingRows(needs).catch(told);
      await showOpenLetters(needs).catch(told);
      return more === true;
    },
    onError: told,
  });

  function told(error: unknown): void {
    const isAway =
      isPostgresAway(error) ||
      error instanceof ClickHouseUnavailable ||
      error instanceof LogUnavailable;
    log[isAway ? "debug" : "error"](
      { err: error },
      "could not look after dead letters; trying again",
    );
  }
}

async function showOpenLetters({ database, metrics }: WatchNeeds): Promise<void> {
  const counts = await countOpenDeadLetters(database);
  metrics.openDeadLetters.reset();
  for (const { letters, ...labels } of counts) metrics.openDeadLetters.set(labels, letters);
}

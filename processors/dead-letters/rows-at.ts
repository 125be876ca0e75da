import { setTimeout as pause } from "node:timers/promises";
import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { ROWS_OF_ENTRY } from "../consume/row-places.ts";

/** Entries of one partition of one log whose rows shall go from a table. */
export interface RowsAt {
  table: "beacon_events" | "metric_samples" | "heartbeat_pings";
  /** As rows name it (`logOfRows`). */
  logId: string;
  partition: number;
  /** `entry` is `WHOLE_RECORD` where all rows of the offset shall go. */
  entries: { offset: bigint; entry: number }[];
}

const LOOK_EVERY_MS = 100;

/**
 * Deletes the rows of some entries. True when nothing of them stands any more; false when that is
 * not so by `until` (ms, as `performance.now()`) or when another mutation of the table runs. To be
 * called again then: it goes on. What views made of the rows stays: sessions are estimates of what
 * came, and an event id counts as seen only while its row stands.
 */
export async function deleteRowsAt(
  clickhouse: ClickHouse,
  rows: RowsAt,
  until: number,
): Promise<boolean> {
  const { table } = rows;
  const [where, params] = conditionOf(rows);
  const months = await clickhouse.query<{ month: number }>(
    `SELECT DISTINCT toYYYYMM(received_at) AS month FROM ${table} WHERE ${where}`,
    params,
  );
  if (months.length === 0) return true;
  if (await isMutating(clickhouse, table)) return false;
  for (const { month } of months) {
    await clickhouse.command(
      `ALTER TABLE ${table} DELETE IN PARTITION ${month} WHERE ${where} SETTINGS mutations_sync = 0`,
      params,
    );
  }
  return isGone(clickhouse, table, where, params, until);
}

/** Numbers stand in the text: a mutation keeps no lists among its parameters. */
function conditionOf({ logId, partition, entries }: RowsAt): [string, Record<string, unknown>] {
  const whole = entries
    .filter(({ entry }) => entry === WHOLE_RECORD)
    .map(({ offset }) => String(offset));
  const single = entries
    .filter(({ entry }) => entry !== WHOLE_RECORD)
    .map(({ offset, entry }) => `(${offset}, ${entry})`);
  const places = [
    ...(whole.length > 0 ? [`offset IN (${whole.join(", ")})`] : []),
    ...(single.length > 0
      ? [`(offset, intDiv(index, ${ROWS_OF_ENTRY})) IN (${single.join(", ")})`]
      : []),
  ];
  const offsets = entries.map(({ offset }) => String(offset)).join(", ");
  return [
    `log_id = {log:String} AND partition = {partition:UInt16} AND offset IN (${offsets}) AND (${places.join(" OR ")})`,
    { log: logId, partition },
  ];
}

async function isGone(
  clickhouse: ClickHouse,
  table: string,
  where: string,
  params: Record<string, unknown>,
  until: number,
): Promise<boolean> {
  for (;;) {
    const [row] = await clickhouse.query<{ rows: string }>(
      `SELECT count() AS rows FROM ${table} WHERE ${where}`,
      params,
    );
    if (row!.rows === "0") return true;
    if (performance.now() > until) return false;
    await pause(LOOK_EVERY_MS);
  }
}

/** Mutations run one after the other. Ours may be among them, from a round or a process before. */
async function isMutating(clickhouse: ClickHouse, table: string): Promise<boolean> {
  const [row] = await clickhouse.query<{ open: string }>(
    "SELECT count() AS open FROM system.mutations WHERE database = currentDatabase() AND table = {table:String} AND is_done = 0",
    { table },
  );
  return row!.open !== "0";
}

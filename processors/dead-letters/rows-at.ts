import { setTimeout as pause } from "node:timers/promises";
import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";

/** Entries of one partition of one log whose rows shall go from a table. */
export interface RowsAt {
  table: "beacon_events" | "metric_samples" | "heartbeat_pings";
  /** As rows name it (`logOfRows`). */
  logId: string;
  partition: number;
  /** `entry` is `WHOLE_RECORD` where all rows of the offset shall go. */
  entries: { offset: bigint; entry: number }[];
}

/**
 * The number of an entry stands in the upper bits of its rows' `index`, their number within the
 * entry in the lower.
 */
export const INDEXES_OF_ENTRY = 16_384;

const LOOK_EVERY_MS = 100;
/** A statement takes 256 KiB. */
const IDS_OF_STATEMENT = 2_000;

/**
 * Deletes the rows of some entries, and from `recent_event_ids` the ids of their events: an event
 * that comes back would be taken for one that was counted. True when nothing of them stands any
 * more; false when that is not so by `until` (ms, as `performance.now()`) or when another mutation
 * of the table runs. To be called again then: it goes on. The ids go first, because only the rows
 * tell which they are.
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
  if (table === "beacon_events" && !(await deleteIds(clickhouse, rows, until))) return false;
  if (await isMutating(clickhouse, table)) return false;
  for (const { month } of months) {
    await clickhouse.command(
      `ALTER TABLE ${table} DELETE IN PARTITION ${month} WHERE ${where} SETTINGS mutations_sync = 0`,
      params,
    );
  }
  return isGone(clickhouse, table, where, params, until);
}

/** The ids are found by the table's key, which the projection by place knows. */
async function deleteIds(clickhouse: ClickHouse, rows: RowsAt, until: number): Promise<boolean> {
  const [where, params] = conditionOf(rows);
  const key = "(service_id, signature_id, received_at)";
  const found = await clickhouse.query<{ id: string }>(
    `SELECT DISTINCT event_id AS id FROM beacon_events WHERE event_id_given AND ${where} AND ${key} IN (SELECT ${key} FROM beacon_events WHERE ${where})`,
    params,
  );
  const ofLog = "log_id = {log:String} AND partition = {partition:UInt16}";
  const offsets = rows.entries.map(({ offset }) => String(offset)).join(", ");
  for (let at = 0; at < found.length; at += IDS_OF_STATEMENT) {
    const ids = found.slice(at, at + IDS_OF_STATEMENT).map(({ id }) => stringLiteral(id));
    const whereId = `event_id IN (${ids.join(", ")}) AND ${ofLog} AND offset IN (${offsets})`;
    if (await isGone(clickhouse, "recent_event_ids", whereId, params, 0)) continue;
    if (await isMutating(clickhouse, "recent_event_ids")) return false;
    await clickhouse.command(
      `ALTER TABLE recent_event_ids DELETE WHERE ${whereId} SETTINGS mutations_sync = 0`,
      params,
    );
    if (!(await isGone(clickhouse, "recent_event_ids", whereId, params, until))) return false;
  }
  return true;
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
      ? [`(offset, intDiv(index, ${INDEXES_OF_ENTRY})) IN (${single.join(", ")})`]
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

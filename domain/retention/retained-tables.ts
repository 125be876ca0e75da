import type { ClickHouse } from "../../platform/clickhouse/port.ts";

/** A table of ClickHouse whose rows have an age. */
export interface RetainedTable {
  table: string;
  /** When a row is from: a DateTime64. */
  time: string;
  /** Whose retention bounds a row. */
  holder: "organization_id" | "service_id";
  /** Whose deletion takes a row along: the first column of the table's order, so that few rows are read to find them. */
  owner: { column: "service_id" | "monitor_id"; kind: "service" | "monitor" };
}

const OF_SERVICE = { column: "service_id", kind: "service" } as const;
const OF_MONITOR = { column: "monitor_id", kind: "monitor" } as const;

/** The migration of ClickHouse since which sessions are kept by slots. */
const SLOTS_MIGRATION = 4;

/**
 * All of them. Tables are partitioned by month of `time` and ordered by service or monitor, so neither an organization's nor a day's rows
 * are a part of their own that could be dropped; partitions by day or by organization would make each insert many parts.
 * `signature_slots` has one partition, and small rows: a slot counts as a whole, by its end. Slot 0 holds what was seen before slots were kept,
 * and is as old as that change.
 */
export async function readRetainedTables(clickhouse: ClickHouse): Promise<RetainedTable[]> {
  const [row] = await clickhouse.query<{ since: string }>(`SELECT toUnixTimestamp64Milli(max(applied_at)) AS since FROM schema_migrations WHERE version = ${SLOTS_MIGRATION}`);
  const slotEnd = `if(slot = toDateTime(0, 'UTC'), fromUnixTimestamp64Milli(${Number(row!.since)}, 'UTC'), toDateTime64(slot + INTERVAL 6 HOUR, 3, 'UTC'))`;
  return [
    { table: "beacon_events", time: "received_at", holder: "organization_id", owner: OF_SERVICE },
    { table: "metric_samples", time: "received_at", holder: "organization_id", owner: OF_SERVICE },
    { table: "heartbeat_pings", time: "received_at", holder: "organization_id", owner: OF_MONITOR },
    { table: "check_results", time: "checked_at", holder: "organization_id", owner: OF_MONITOR },
    { table: "signature_slots", time: slotEnd, holder: "service_id", owner: OF_SERVICE },
  ];
}

import type { ClickHouse } from "../platform/clickhouse/port.ts";

/** Of the log that `fillSamples` writes. */
export const FILLED = { partitions: 16, rowsOfRecord: 100 } as const;

/**
 * Inserts one part of metric samples as a busy log gives them: rows `from` up to `to` of all, 100 rows a record, the
 * records in turns of 16 partitions, of 2,000 services with five metrics each. Records are a minute apart when `perDay`
 * records of a partition are those of a day.
 */
export async function fillSamples(
  clickhouse: ClickHouse,
  { logId, from, to, perDay = 1_440 }: { logId: string; from: number; to: number; perDay?: number },
): Promise<void> {
  const { partitions, rowsOfRecord } = FILLED;
  const receivedAt = `toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + toIntervalMillisecond(intDiv(n * 86400000, ${perDay * partitions * rowsOfRecord}))`;
  await clickhouse.command(`
    INSERT INTO metric_samples
      (log_id, partition, offset, \`index\`, organization_id, service_id, name, value, received_at, reported_at)
    SELECT '${logId}', n % ${partitions}, intDiv(n, ${partitions * rowsOfRecord}), intDiv(n, ${partitions}) % ${rowsOfRecord},
      toUUID('00000000-0000-4000-8000-000000000001'),
      reinterpretAsUUID(toUInt128(cityHash64(n) % 2000)), concat('metric ', toString(n % 5)), n % 997,
      ${receivedAt}, ${receivedAt}
    FROM (SELECT number + ${from} AS n FROM numbers(${to - from}))
    SETTINGS max_block_size = ${to - from}, min_insert_block_size_rows = ${to - from}, max_insert_threads = 1, max_threads = 1`);
}

/** The offset behind the last record that `fillSamples` wrote of each partition, of `rows` in all. */
export function filledEnd(rows: number): bigint {
  return BigInt(Math.floor(rows / (FILLED.partitions * FILLED.rowsOfRecord)));
}

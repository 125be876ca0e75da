import { makeRowEncoder, type EncodedRows, type TableColumn } from "../platform/clickhouse/row-binary.ts";

/** Encodes rows as one part, whatever their size; there must be one at least. */
export function encodePart(columns: readonly TableColumn[], rows: readonly object[]): EncodedRows {
  const encoder = makeRowEncoder(columns, { mostRows: Infinity, mostBytes: Infinity, spare: [] });
  encoder.add(rows);
  return encoder.finish()[0]!;
}

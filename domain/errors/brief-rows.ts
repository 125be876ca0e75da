import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";

/** What counting an event takes, as against storing it. */
export type BriefRow = Pick<
  BeaconEventRow,
  "log_id" | "partition" | "offset" | "index" | "organization_id" | "service_id" | "signature_id" | "event_id" | "event_id_given" | "type" | "received_at" | "occurred_at" | "release" | "environment"
>;

/** Columns of rows, in a shape that travels between threads for a tenth of what as many objects cost. */
export interface PackedRows {
  count: number;
  columns: { [Name in keyof BriefRow]: Packed<BriefRow[Name]> };
}

/** A column without repetitions: each value, and the row where it begins. */
interface Packed<Value> {
  values: Value[];
  from: Uint32Array;
}

export function packBriefRows(rows: readonly BriefRow[]): PackedRows {
  return {
    count: rows.length,
    columns: {
      log_id: packed(rows, (row) => row.log_id),
      partition: packed(rows, (row) => row.partition),
      offset: packed(rows, (row) => row.offset),
      index: packed(rows, (row) => row.index),
      organization_id: packed(rows, (row) => row.organization_id),
      service_id: packed(rows, (row) => row.service_id),
      signature_id: packed(rows, (row) => row.signature_id),
      event_id: packed(rows, (row) => row.event_id),
      event_id_given: packed(rows, (row) => row.event_id_given),
      type: packed(rows, (row) => row.type),
      received_at: packed(rows, (row) => row.received_at),
      occurred_at: packed(rows, (row) => row.occurred_at),
      release: packed(rows, (row) => row.release),
      environment: packed(rows, (row) => row.environment),
    },
  };
}

function packed<Value>(rows: readonly BriefRow[], valueOf: (row: BriefRow) => Value): Packed<Value> {
  const values: Value[] = [];
  const from: number[] = [];
  for (let row = 0; row < rows.length; row++) {
    const value = valueOf(rows[row]!);
    if (row > 0 && value === values[values.length - 1]) continue;
    values.push(value);
    from.push(row);
  }
  return { values, from: Uint32Array.from(from) };
}

export function unpackBriefRows({ count, columns }: PackedRows): BriefRow[] {
  const logId = reader(columns.log_id);
  const partition = reader(columns.partition);
  const offset = reader(columns.offset);
  const index = reader(columns.index);
  const organizationId = reader(columns.organization_id);
  const serviceId = reader(columns.service_id);
  const signatureId = reader(columns.signature_id);
  const eventId = reader(columns.event_id);
  const eventIdGiven = reader(columns.event_id_given);
  const type = reader(columns.type);
  const receivedAt = reader(columns.received_at);
  const occurredAt = reader(columns.occurred_at);
  const release = reader(columns.release);
  const environment = reader(columns.environment);
  return Array.from({ length: count }, (_, row) => ({
    log_id: logId(row),
    partition: partition(row),
    offset: offset(row),
    index: index(row),
    organization_id: organizationId(row),
    service_id: serviceId(row),
    signature_id: signatureId(row),
    event_id: eventId(row),
    event_id_given: eventIdGiven(row),
    type: type(row),
    received_at: receivedAt(row),
    occurred_at: occurredAt(row),
    release: release(row),
    environment: environment(row),
  }));
}

/** Gives a column's values row by row, in order. */
function reader<Value>({ values, from }: Packed<Value>): (row: number) => Value {
  let at = 0;
  return (row) => {
    while (at + 1 < from.length && from[at + 1]! <= row) at++;
    return values[at]!;
  };
}

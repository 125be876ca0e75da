import type { FrameEntry } from "../../platform/event-log/frame.ts";
import { readPing } from "../../schemas/messages/ping.ts";
import type { PingStatus } from "../../schemas/vocabulary.ts";

/** One row of ClickHouse's table `heartbeat_pings`. */
export interface HeartbeatPingRow {
  log_id: string;
  partition: number;
  /** A 64-bit number as text. */
  offset: string;
  index: number;
  organization_id: string;
  monitor_id: string;
  /** `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
  received_at: string;
  status: PingStatus;
  /** Empty when the sender named no run. */
  run_id: string;
  exit_code: number | null;
  duration_ms: number | null;
  message: string;
}

/**
 * The row of one ping, from the log's bytes alone: the same entry gives the same row at every replay. `index` is
 * the entry's number in its frame. Null for a body that cannot be read, which an edge of another version took in.
 */
export function pingRow(place: { logId: string; partition: number; offset: bigint; index: number }, entry: FrameEntry): HeartbeatPingRow | null {
  const reading = readPing(entry.body);
  if (reading.kind === "invalid") return null;
  const { status, run_id, exit_code, duration_ms, message } = reading.ping;
  return {
    log_id: place.logId,
    partition: place.partition,
    offset: String(place.offset),
    index: place.index,
    organization_id: entry.organizationId,
    monitor_id: entry.subjectId,
    received_at: new Date(entry.receivedAt).toISOString().slice(0, 23).replace("T", " "),
    status,
    run_id: run_id ?? "",
    exit_code,
    duration_ms,
    message: message ?? "",
  };
}

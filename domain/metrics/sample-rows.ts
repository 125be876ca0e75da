import type { FrameEntry } from "../../platform/event-log/frame.ts";
import { readMetricsPush } from "../../schemas/messages/metrics-push.ts";
import { readJson } from "../../schemas/messages/read-json.ts";

/** One row of ClickHouse's table `metric_samples`. */
export interface MetricSampleRow {
  log_id: string;
  partition: number;
  /** A 64-bit number as text. */
  offset: string;
  index: number;
  organization_id: string;
  service_id: string;
  name: string;
  value: number;
  /** Both `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
  received_at: string;
  /** As the sender gave it, however wrong; readers take `received_at` when the two are more than 24 h apart. */
  reported_at: string;
}

/** What the column holds; a sender's clock may show any year. */
const EARLIEST = Date.UTC(1900, 0, 1);
const LATEST = Date.UTC(2299, 11, 31);

/**
 * The rows of one push, one for each figure, from the log's bytes alone: the same entry gives the same rows at every
 * replay. `firstIndex` is the number of rows that the entries before it in the frame gave, so that each row has a
 * place of its own. Empty for a body that cannot be read, which an edge of another version took in.
 */
export function sampleRows(place: { logId: string; partition: number; offset: bigint; firstIndex: number }, entry: FrameEntry): MetricSampleRow[] {
  const push = readBody(entry.body);
  if (push === null) return [];
  const received_at = columnTime(entry.receivedAt);
  const reported_at = push.timestamp === null ? received_at : columnTime(Math.min(Math.max(Date.parse(push.timestamp), EARLIEST), LATEST));
  return Object.entries(push.metrics).map(([name, value], n) => ({
    log_id: place.logId,
    partition: place.partition,
    offset: String(place.offset),
    index: place.firstIndex + n,
    organization_id: entry.organizationId,
    service_id: entry.subjectId,
    name,
    value,
    received_at,
    reported_at,
  }));
}

function readBody(body: Uint8Array) {
  try {
    const reading = readMetricsPush(readJson(body));
    return reading.kind === "read" ? reading.push : null;
  } catch {
    return null;
  }
}

function columnTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace("T", " ");
}

import type { BeaconEventType, ErrorCategory } from "../vocabulary.ts";

/**
 * One row of ClickHouse's table `beacon_events`, as JSON carries it both ways: what a processor inserts is
 * what a replay reads back. Dates are `YYYY-MM-DD HH:MM:SS.mmm` in UTC, 64-bit integers texts, ids lower case.
 */
export interface BeaconEventRow {
  log_id: string;
  partition: number;
  offset: string;
  index: number;
  organization_id: string;
  service_id: string;
  /** The nil UUID for vitals, which belong to no signature. */
  signature_id: string;
  event_id: string;
  event_id_given: boolean;
  type: BeaconEventType;
  received_at: string;
  occurred_at: string;
  session_id: string;
  user_id: string;
  release: string;
  environment: string;
  grouping_version: string;
  fingerprint: string;
  /** JSON of `GroupingPart[]`; "" when they follow from the type and the stack. */
  grouping_parts: string;
  error_type: string;
  message: string;
  culprit: string;
  category: ErrorCategory | "";
  handled: boolean;
  level: string;
  stack: string;
  /** JSON of `StoredFrame[]`; "" when they follow from the stack. */
  frames: string;
  /** JSON of the event's own `{script url: debug id}`; "" for none. */
  debug_ids: string;
  /** JSON of `{error_type, message, stack}[]`. */
  causes: string;
  /** JSON array. */
  breadcrumbs: string;
  tags: Record<string, string>;
  url: string;
  sdk: string;
  name: string;
  value: number;
  truncated: boolean;
  /** False when stack, causes, breadcrumbs, tags and url were left out, because there were so many of its kind (`sample-details.ts`). */
  detailed: boolean;
}

export const NIL_SIGNATURE = "00000000-0000-0000-0000-000000000000";

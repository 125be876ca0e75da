import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";

/** Takes from rows past the figure of their signature and minute what only tells one event from another. */
export interface DetailSampler {
  sample(rows: BeaconEventRow[], perMinute: number): void;
}

/** Past the figure one event in so many keeps its details: what changes during a spike can still be seen. */
const ONE_IN = 100;
const MINUTE = "YYYY-MM-DD HH:MM".length;
/** More signatures in a minute are no spike of one. */
const MOST_SIGNATURES = 100_000;

/**
 * A spike repeats the same few thousand bytes many times a second. Each of its events stays a row and is counted, by release, environment,
 * session and time; `perMinute` of them and some of the others keep stack, causes, breadcrumbs, tags and url. Minutes are those of receipt.
 */
export function makeDetailSampler(): DetailSampler {
  let minute = "";
  const counts = new Map<string, number>();
  return {
    sample(rows, perMinute) {
      for (const row of rows) {
        if (row.type === "vital") continue;
        if (!row.received_at.startsWith(minute) || minute === "" || counts.size > MOST_SIGNATURES) {
          minute = row.received_at.slice(0, MINUTE);
          counts.clear();
        }
        const count = (counts.get(row.signature_id) ?? 0) + 1;
        counts.set(row.signature_id, count);
        if (count > perMinute && count % ONE_IN !== 0) leaveOut(row);
      }
    },
  };
}

function leaveOut(row: BeaconEventRow): void {
  row.detailed = false;
  row.stack = row.frames = row.debug_ids = row.grouping_parts = row.url = "";
  row.causes = row.breadcrumbs = "[]";
  row.tags = {};
}

import type { BriefRow } from "../../../domain/errors/brief-rows.ts";
import { REMEMBERED_MS } from "../../../domain/floods/read.ts";
import { momentIn } from "../../../platform/clickhouse/moment-in.ts";
import type { GivenId } from "./id-hash.ts";

/** What of a row decides whether it counts. */
type GivenRow = Pick<BriefRow, "log_id" | "partition" | "offset" | "index" | "service_id" | "event_id" | "event_id_given" | "received_at">;

/** An event with this id counts, and was received then. */
interface CountedId extends GivenId {
  receivedAt: number;
  /** Where it stands in ClickHouse; an id of the batch itself has none. */
  place: string | null;
}

/** Ids that count, found by service and event id. */
export interface CountedIds {
  add(id: CountedId): void;
  /** Says whether another event of the same id counts within the hour before or after; the row's own place is none. */
  repeats(row: GivenRow): boolean;
}

export function makeCountedIds(): CountedIds {
  /** Several of one service and event were received hours apart. */
  const known = new Map<string, CountedId[]>();

  return {
    add(id) {
      const key = keyOf(id);
      const others = known.get(key);
      if (others) others.push(id);
      else known.set(key, [id]);
    },
    repeats(row) {
      const others = known.get(keyOf(row));
      if (!others) return false;
      const receivedAt = receivedAtOf(row);
      return others.some((other) => Math.abs(other.receivedAt - receivedAt) < REMEMBERED_MS && (other.place === null || other.place !== placeOf(row)));
    },
  };
}

const keyOf = ({ service_id: serviceId, event_id: eventId }: GivenId): string => serviceId + eventId;

/**
 * Leaves of the missing rows, in their order, those that count: the first of each id, unless another counts already. Those
 * left are counted from then on.
 */
export function withoutRepeated<Row extends GivenRow>(missing: readonly Row[], counted: CountedIds): Row[] {
  return missing.filter((row) => {
    if (!row.event_id_given) return true;
    if (counted.repeats(row)) return false;
    counted.add({ service_id: row.service_id, event_id: row.event_id, receivedAt: receivedAtOf(row), place: null });
    return true;
  });
}

/** Names the row of an event: the same frame gives the same place. */
export function placeOf(row: Pick<GivenRow, "log_id" | "partition" | "offset" | "index">): string {
  return `${row.log_id}/${row.partition}/${row.offset}/${row.index}`;
}

let lastText = "";
let lastMoment = 0;

/** Returns ms since the epoch. The rows of one request share the moment of its receipt. */
export function receivedAtOf({ received_at: text }: Pick<GivenRow, "received_at">): number {
  if (text !== lastText) {
    lastMoment = momentIn(text);
    lastText = text;
  }
  return lastMoment;
}

import type { BriefRow } from "../../../domain/errors/brief-rows.ts";
import { REMEMBERED_MS } from "../../../domain/floods/read.ts";
import { momentIn } from "../../../platform/clickhouse/moment-in.ts";
import type { GivenId } from "./id-hash.ts";

/** Where a row stands or is to stand: the same frame gives the same place. */
export type Place = Pick<BriefRow, "log_id" | "partition" | "offset" | "index">;

/** What of a row decides whether it counts. */
type GivenRow = GivenId & Place & Pick<BriefRow, "event_id_given" | "received_at">;

/** An event with this id counts, and was received then. */
export interface CountedId extends GivenId {
  receivedAt: number;
  /** Where it stands in ClickHouse. A new id of the batch has none. */
  place: string | null;
}

/** Ids that count, found by service and event id. */
export interface CountedIds {
  add(id: CountedId): void;
  /** Says whether another event of the row's id counts within the hour before or after. */
  repeats(row: GivenRow): boolean;
}

/** Makes an empty set of ids that count. */
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
      // What stands at the row's own place is the row itself.
      const isOther = ({ place }: CountedId): boolean => place === null || place !== placeOf(row);
      return others.some((other) => isWithinHour(other.receivedAt, receivedAt) && isOther(other));
    },
  };
}

/** Counts the id of a row that stands. */
export function countStanding(counted: CountedIds, row: GivenRow): void {
  const { service_id, event_id } = row;
  counted.add({ service_id, event_id, receivedAt: receivedAtOf(row), place: placeOf(row) });
}

/**
 * Leaves, in their order, the missing rows that count: the first of each id, unless another counts
 * already. Those left are counted from then on.
 */
export function withoutRepeated<Row extends GivenRow>(
  missing: readonly Row[],
  counted: CountedIds,
): Row[] {
  return missing.filter((row) => {
    if (!row.event_id_given) return true;
    if (counted.repeats(row)) return false;
    const { service_id, event_id } = row;
    counted.add({ service_id, event_id, receivedAt: receivedAtOf(row), place: null });
    return true;
  });
}

/** Names a place. */
export function placeOf(row: Place): string {
  return `${row.log_id}/${row.partition}/${row.offset}/${row.index}`;
}

const keyOf = (id: GivenId): string => id.service_id + id.event_id;
const isWithinHour = (one: number, other: number): boolean => Math.abs(one - other) < REMEMBERED_MS;

let lastText = "";
let lastMoment = 0;

/** Returns ms since the epoch. The rows of one request share the moment of its receipt. */
export function receivedAtOf({ received_at: text }: Pick<BriefRow, "received_at">): number {
  if (text !== lastText) {
    lastMoment = momentIn(text);
    lastText = text;
  }
  return lastMoment;
}

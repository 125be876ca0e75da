import type { BriefRow } from "../../domain/errors/brief-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Log } from "../../platform/log.ts";
import { REMEMBERED_MS } from "../../domain/floods/read.ts";
import { logOfRows, type CursorName } from "../consume/cursor.ts";
import { makeSeenFilter, type SeenFilter } from "./seen-filter.ts";

const LOOK_UP_AT_ONCE = 5_000;

export interface SeenEvents {
  /** A partition was assigned: fills its filter from ClickHouse; until then every id is looked up. */
  assign(cursor: CursorName): void;
  withoutSeen(rows: BriefRow[], range: { cursor: CursorName; first: bigint; last: bigint }): Promise<BriefRow[]>;
}

interface SeenNeeds {
  clickhouse: ClickHouse;
  log: Log;
  now: () => number;
  /** Whether the organization's ids may stand in another topic, of which the filter knows nothing: then all are looked up. */
  elsewhereToo(organizationId: string): boolean;
}

interface Partition {
  filter: SeenFilter;
  warm: boolean;
}

/** Counts a retried event once. The filter only decides whether ClickHouse has to be asked; ClickHouse decides. */
export function makeSeenEvents({ clickhouse, log, now, elsewhereToo }: SeenNeeds): SeenEvents {
  const partitions = new Map<number, Partition>();

  async function warm(cursor: CursorName, partition: Partition): Promise<void> {
    const rows = await clickhouse.query<SeenId & { received: string }>(
      `SELECT service_id, event_id, toString(toUnixTimestamp64Milli(received_at)) AS received FROM recent_event_ids
       WHERE log_id = {log:String} AND partition = {partition:UInt16} AND received_at > fromUnixTimestamp64Milli({since:Int64})
       ORDER BY received_at DESC LIMIT 2000000`,
      { log: logOfRows(cursor), partition: cursor.partition, since: now() - REMEMBERED_MS },
    );
    for (const row of rows) partition.filter.add(seenKey(row), Number(row.received));
    // More ids than we are willing to read at once: then the filter stays incomplete and every id is looked up.
    partition.warm = rows.length < 2_000_000;
    log.debug({ partition: cursor.partition, ids: rows.length }, "the event id filter is warm");
  }

  return {
    assign(cursor) {
      const partition = { filter: makeSeenFilter(), warm: false };
      partitions.set(cursor.partition, partition);
      warm(cursor, partition).catch((error: unknown) => log.warn({ err: error, partition: cursor.partition }, "the event id filter stays cold; every id is looked up"));
    },

    async withoutSeen(rows, { cursor, first, last }) {
      const partition = partitions.get(cursor.partition)!;
      const inRange = new Set<string>();
      const asked: BriefRow[] = [];
      const kept = rows.filter((row) => {
        if (!row.event_id_given) return true;
        const key = seenKey(row);
        if (inRange.has(key)) return false;
        inRange.add(key);
        if (!partition.warm || elsewhereToo(row.organization_id) || partition.filter.perhapsSeen(key, receivedAtOf(row))) asked.push(row);
        return true;
      });
      const seen = await lookUp(asked, cursor, first, last);
      for (const row of kept) if (row.event_id_given) partition.filter.add(seenKey(row), receivedAtOf(row));
      return seen.size === 0 ? kept : kept.filter((row) => !(row.event_id_given && seen.has(seenKey(row))));
    },
  };

  /** Ids that stand in ClickHouse, received within the hour before, in another record than those of the range. */
  async function lookUp(rows: BriefRow[], cursor: CursorName, first: bigint, last: bigint): Promise<Set<string>> {
    const seen = new Set<string>();
    for (let at = 0; at < rows.length; at += LOOK_UP_AT_ONCE) {
      const part = rows.slice(at, at + LOOK_UP_AT_ONCE);
      const received = part.map(receivedAtOf);
      const found = await clickhouse.query<SeenId>(
        `SELECT DISTINCT service_id, event_id FROM recent_event_ids
         WHERE event_id IN {ids:Array(UUID)} AND received_at > fromUnixTimestamp64Milli({since:Int64})
           AND NOT (log_id = {log:String} AND partition = {partition:UInt16} AND offset >= {first:UInt64})`,
        { ids: part.map(({ event_id }) => event_id), since: Math.min(...received) - REMEMBERED_MS, log: logOfRows(cursor), partition: cursor.partition, first: String(first) },
      );
      for (const row of found) seen.add(seenKey(row));
    }
    log.trace({ asked: rows.length, seen: seen.size, last: String(last) }, "looked event ids up");
    return seen;
  }
}

/** An id counts within its service alone: another organization must not be able to use it up. */
interface SeenId {
  service_id: string;
  event_id: string;
}

function seenKey({ service_id, event_id }: SeenId): string {
  return service_id + event_id;
}

let lastReceived = "";
let lastMoment = 0;

/** The rows of one request share the moment of its receipt. */
function receivedAtOf({ received_at: receivedAt }: BriefRow): number {
  if (receivedAt !== lastReceived) {
    lastMoment = Date.parse(`${receivedAt.replace(" ", "T")}Z`);
    lastReceived = receivedAt;
  }
  return lastMoment;
}

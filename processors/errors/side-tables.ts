import type { SideTable } from "../consume/row-store.ts";

/** As `hashGivenIds` computes it. */
const ID_HASH = "bitOr(bitShiftLeft(toUInt64(murmurHash3_32(concat(UUIDToNum(service_id), UUIDToNum(event_id)))), 32), toUInt64(xxHash32(concat(UUIDToNum(service_id), UUIDToNum(event_id)))))";

/**
 * Tables behind the materialized views of `beacon_events`, with the views' own queries. A replay runs them over the rows
 * that stand: an insert may have died before its views. A test holds them to the views.
 */
export const BEACON_SIDE_TABLES: readonly (SideTable & { view: string })[] = [
  {
    view: "signature_slots_view",
    insertFrom: (source) => `INSERT INTO signature_slots
      SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqExactState(session_id) AS sessions
      FROM ${source} WHERE type != 'vital' AND session_id != ''
      GROUP BY slot, service_id, signature_id`,
  },
  {
    view: "seen_event_ids_view",
    insertFrom: (source) => `INSERT INTO seen_event_ids (log_id, partition, slot, id_hash, event_id, service_id, received_at, offset, \`index\`)
      SELECT log_id, partition, toStartOfInterval(received_at, INTERVAL 20 MINUTE) AS slot, ${ID_HASH} AS id_hash,
        event_id, service_id, received_at, offset, \`index\`
      FROM ${source} WHERE event_id_given`,
  },
];

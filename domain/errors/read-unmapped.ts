import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { GroupedRow } from "./group-again.ts";
import { tooManyId } from "./too-many.ts";

/** The last event of a signature among those that a release's maps may say more of. */
export interface UnmappedRow extends GroupedRow {
  signature_id: string;
  /** JSON; "" for none. */
  debug_ids: string;
}

/** A stack of this length was cut: its group cannot be found from what is left. */
const CUT_STACK_BYTES = 65_000;

const REASONS = ["no_release", "no_map_for_url", "position_not_in_map", "map_invalid"];

/**
 * The errors of a release, or with debug ids of any, that have a frame without its original, one row for each signature: in the order of the
 * signatures' ids, from after `after` on, at most `limit`. The signature of what is too many is not one of them: its
 * events are not one error.
 */
export async function readUnmapped(clickhouse: ClickHouse, { organizationId, serviceId, release, after, limit }: { organizationId: string; serviceId: string; release: string; after: string; limit: number }): Promise<UnmappedRow[]> {
  const params = { organization: organizationId, service: serviceId, tooMany: tooManyId(serviceId), release, after, limit, reasons: REASONS.map((reason) => `"unmapped_reason":"${reason}"`) };
  // The ids first: in the order of the table, so that no more is read than the page.
  const ids = await clickhouse.query<{ id: string }>(
    `SELECT toString(event.signature_id) AS id FROM beacon_events AS event WHERE event.service_id = {service:UUID} AND event.organization_id = {organization:UUID} AND event.signature_id > {after:UUID} AND event.signature_id != {tooMany:UUID} AND ${LACKING}
     GROUP BY event.service_id, event.signature_id ORDER BY event.service_id, event.signature_id LIMIT {limit:UInt32} SETTINGS optimize_aggregation_in_order = 1`,
    params,
  );
  if (ids.length === 0) return [];
  return clickhouse.query<UnmappedRow>(
    `SELECT toString(event.service_id) AS service_id, toString(event.signature_id) AS signature_id,
       argMax(tuple(event.error_type, event.message, event.stack, event.causes, event.grouping_parts, event.release, event.debug_ids), event.received_at) AS last,
       last.1 AS error_type, last.2 AS message, last.3 AS stack, last.4 AS causes, last.5 AS grouping_parts, last.6 AS release, last.7 AS debug_ids
     FROM beacon_events AS event WHERE event.service_id = {service:UUID} AND event.organization_id = {organization:UUID} AND event.signature_id IN {ids:Array(UUID)} AND ${LACKING}
     GROUP BY event.service_id, event.signature_id ORDER BY event.signature_id`,
    { ...params, ids: ids.map(({ id }) => id) },
  );
}

const LACKING = `event.type = 'error' AND event.stack != '' AND length(event.stack) < ${CUT_STACK_BYTES} AND (event.release = {release:String} OR event.debug_ids != '') AND (event.frames = '' OR multiSearchAny(event.frames, {reasons:Array(String)}))`;

/** Whether ClickHouse has events under an id itself. */
export async function hasEvents(clickhouse: ClickHouse, { organizationId, serviceId, signatureId }: { organizationId: string; serviceId: string; signatureId: string }): Promise<boolean> {
  const rows = await clickhouse.query("SELECT 1 FROM beacon_events WHERE service_id = {service:UUID} AND signature_id = {signature:UUID} AND organization_id = {organization:UUID} LIMIT 1", { organization: organizationId, service: serviceId, signature: signatureId });
  return rows.length > 0;
}

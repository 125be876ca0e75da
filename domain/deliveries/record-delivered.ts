import { sql } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { makeGather } from "../../platform/postgres/gather.ts";
import { webhookDeliveries } from "../../schemas/tables/all.ts";
import { storableJson } from "../events/storable-json.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { Attempt } from "./record.ts";

interface Delivered {
  claimed: ClaimedDelivery;
  attempt: Attempt;
}

const MOST_AT_ONCE = 250;

const recordGathered = makeGather({ most: MOST_AT_ONCE }, recordAll);

/**
 * Records a delivery that the receiver took, in one statement with others that end at about the same time: nothing follows from it, so its
 * webhook need not be looked at. False when the lease was taken over or the webhook deleted.
 */
export function recordDelivered(database: Database, claimed: ClaimedDelivery, attempt: Attempt): Promise<boolean> {
  return recordGathered(database, { claimed, attempt });
}

async function recordAll(database: Database, delivered: Delivered[]): Promise<boolean[]> {
  const rows = delivered.map(({ claimed, attempt }) => ({ id: claimed.id, token: claimed.leaseToken, status_code: attempt.statusCode, body: attempt.responseBody, duration_ms: attempt.durationMs, url: attempt.url, headers: attempt.requestHeaders }));
  const { rows: recorded } = await inTransaction(database, (tx) =>
    tx.execute<{ id: string }>(sql`
      update ${webhookDeliveries} as delivery
      set status = 'delivered', lease_token = null, url = now.url, request_headers = now.headers, response_status_code = now.status_code, response_body = now.body, duration_ms = now.duration_ms, error = null, next_retry_at = null
      from jsonb_to_recordset(${storableJson(rows)}::jsonb) as now (id uuid, token uuid, status_code integer, body text, duration_ms integer, url text, headers jsonb)
      where delivery.id = now.id and delivery.lease_token = now.token
      returning delivery.id`),
  );
  const ids = new Set(recorded.map(({ id }) => id));
  return delivered.map(({ claimed }) => ids.has(claimed.id));
}

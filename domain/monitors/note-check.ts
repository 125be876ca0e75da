import { sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { checkResults } from "../../schemas/tables/all.ts";
import type { MonitorKind } from "../../schemas/vocabulary.ts";
import { storableJson } from "../events/storable-json.ts";

/** What a check found, as ClickHouse's table `check_results` names it. */
export interface CheckResultRow {
  status: string;
  /** "" for none. */
  error: string;
  response_time_ms?: number | null;
  dns_ms?: number | null;
  connect_ms?: number | null;
  tls_ms?: number | null;
  first_byte_ms?: number | null;
  status_code?: number | null;
  days_until_expiry?: number | null;
  is_valid?: boolean | null;
}

interface NotedCheck {
  organizationId: string;
  kind: MonitorKind;
  monitorId: string;
  checkedAt: Date;
  result: CheckResultRow;
}

/** Writes results down in the transaction of what follows from them; a scheduler brings them to ClickHouse soon after. */
export async function noteChecks(tx: Transaction, checks: readonly NotedCheck[]): Promise<void> {
  if (checks.length === 0) return;
  const rows = checks.map(({ organizationId, kind, monitorId, checkedAt, result }) => ({ id: newId(), organization_id: organizationId, kind, monitor_id: monitorId, checked_at: checkedAt.toISOString(), result }));
  await tx.execute(sql`
    insert into ${checkResults} (id, organization_id, kind, monitor_id, checked_at, result)
    select id, organization_id, kind, monitor_id, checked_at, result
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as row (id uuid, organization_id uuid, kind monitor_kind, monitor_id uuid, checked_at timestamptz, result jsonb)`);
}

import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { checkResults } from "../../schemas/tables/all.ts";
import type { MonitorKind } from "../../schemas/vocabulary.ts";

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
  if (checks.length > 0) await tx.insert(checkResults).values(checks.map(({ result, ...check }) => ({ id: newId(), ...check, result: { ...result } })));
}

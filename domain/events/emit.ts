import { sql, type SQL } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { events } from "../../schemas/tables/all.ts";
import type { EventType } from "../../schemas/vocabulary.ts";
import { boundEventData } from "./bound-data.ts";
import { storableJson } from "./storable-json.ts";

/** Something that webhooks, channels and workflows may hear of. */
export interface NewEvent {
  organizationId: string;
  type: EventType;
  /** Specific to the type (specification §6); travels as JSON. */
  data: Record<string, unknown>;
  at: Date;
}

/** Writes outbox rows in the transaction of the change they tell of, any number in one statement. */
export async function emitEvents(tx: Transaction, happened: NewEvent[]): Promise<void> {
  if (happened.length > 0) await tx.execute(eventsInsert(happened));
}

/** The statement that writes outbox rows, to stand alone or beside others in one `with`; `where` decides whether it writes. */
export function eventsInsert(happened: readonly NewEvent[], where: SQL = sql`true`): SQL {
  const rows = happened.map(({ organizationId, type, data, at }) => ({ id: newId(), organization_id: organizationId, type, data: boundEventData(data), created_at: at.toISOString() }));
  // One parameter whatever the number of rows: a batch of services may change at once.
  return sql`
    insert into ${events} (id, organization_id, type, data, created_at)
    select id, organization_id, type, data, created_at
    from jsonb_to_recordset(${storableJson(rows)}::jsonb)
      as row (id uuid, organization_id uuid, type event_type, data jsonb, created_at timestamptz)
    where ${where}`;
}

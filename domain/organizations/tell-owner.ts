import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { channels, notifications } from "../../schemas/tables/all.ts";

interface Notice {
  organizationId: string;
  /** One line. */
  subject: string;
  /** Whole sentences, without secrets: it goes to third parties. */
  text: string;
  at: Date;
}

/**
 * Tells an organization's owner what Pharos itself has to say, in the transaction of what it tells of: a notice to each
 * enabled channel of the organization, due at once.
 */
export async function tellOwner(tx: Transaction, { organizationId, subject, text, at }: Notice): Promise<void> {
  const now = sql`${at.toISOString()}::timestamptz`;
  await tx.execute(sql`
    insert into ${notifications} (id, organization_id, channel_id, message, trigger, due_at, created_at)
    select gen_random_uuid(), organization_id, id, ${`${subject}\n\n${text}`}, 'notice', ${now}, ${now}
    from ${channels} where organization_id = ${organizationId} and enabled`);
}

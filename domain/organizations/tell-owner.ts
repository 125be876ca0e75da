import { eq, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { channels, notifications, organizations } from "../../schemas/tables/all.ts";
import { queueMail } from "../mail/queue-mail.ts";

interface Notice {
  organizationId: string;
  /** One line. */
  subject: string;
  /** Whole sentences, without secrets: it goes to third parties. */
  text: string;
  at: Date;
}

/**
 * Tells an organization's owner what Pharos itself has to say, in the transaction of what it tells of: a mail, when the owner's address
 * is confirmed, and a notice to each enabled channel, due at once.
 */
export async function tellOwner(tx: Transaction, { organizationId, subject, text, at }: Notice): Promise<void> {
  const now = sql`${at.toISOString()}::timestamptz`;
  await tx.execute(sql`
    insert into ${notifications} (id, organization_id, channel_id, message, trigger, due_at, created_at)
    select gen_random_uuid(), organization_id, id, ${`${subject}\n\n${text}`}, 'notice', ${now}, ${now}
    from ${channels} where organization_id = ${organizationId} and enabled`);
  const [owner] = await tx.select({ email: organizations.ownerEmail, confirmedAt: organizations.ownerEmailConfirmedAt }).from(organizations).where(eq(organizations.id, organizationId));
  if (owner?.email && owner.confirmedAt) await queueMail(tx, { organizationId, to: owner.email, subject, text, at });
}

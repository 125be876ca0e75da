import { and, eq, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { OrganizationConfig } from "../../schemas/api/organizations.ts";
import { organizations } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { hashCode, isRightCode, newCode, wrongCode } from "../confirmation-code.ts";
import { secondsUntilTomorrow } from "../day-counts.ts";
import { queueMail } from "../mail/queue-mail.ts";
import { noSuchOrganization, showOrganizationConfig } from "./read.ts";

type OrganizationRow = typeof organizations.$inferSelect;

const PAUSE_MS = 60_000;

/** How many codes an organization has sent in a day (UTC): whoever may change the address could have strangers mailed. */
const CODES_A_DAY = 10;

/**
 * Mails a code to an address that an organization was given for its owner, in the transaction that holds the organization's row; the code before is
 * worth nothing any more. RATE_LIMITED when today's codes are used up.
 */
export async function queueOwnerCode(tx: Transaction, { id: organizationId, ownerEmail }: Pick<OrganizationRow, "id" | "ownerEmail">, at: Date): Promise<void> {
  if (ownerEmail === null) return;
  const day = at.toISOString().slice(0, 10);
  const code = newCode();
  const { rowCount } = await tx
    .update(organizations)
    .set({
      codeHash: hashCode(organizationId, code),
      codeSentAt: at,
      codeTries: 0,
      codesDay: day,
      codes: sql`case when ${organizations.codesDay} = ${day}::date then ${organizations.codes} + 1 else 1 end`,
    })
    .where(and(eq(organizations.id, organizationId), sql`(${organizations.codesDay} is distinct from ${day}::date or ${organizations.codes} < ${CODES_A_DAY})`));
  if (rowCount === 0) {
    const sentence = `This organization had ${CODES_A_DAY} codes sent to addresses of its owner today.`;
    throw new Failure("RATE_LIMITED", sentence, { retryAfter: secondsUntilTomorrow(at), fix: "Try again tomorrow (UTC)." });
  }
  // Its reader may be a stranger: nothing that the organization wrote is in it.
  const text =
    `Your code is ${code}. It holds for 15 minutes.\n\n` +
    "Somebody gave this address as the one of an organization's owner at a monitoring service that runs Pharos. With the code the owner's notices come here. If that was not you, ignore this mail.";
  await queueMail(tx, { organizationId, to: ownerEmail, subject: "Confirm this address", text, at });
}

/** Sends another code. CONFLICT when there is no address that needs one; RATE_LIMITED within a minute of the last, and when today's are used up. */
export async function sendOwnerCode(database: Database, { organizationId }: Actor, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const row = await lockUnconfirmed(tx, organizationId);
    const ago = row.codeSentAt === null ? PAUSE_MS : at.getTime() - row.codeSentAt.getTime();
    // Clocks of processes differ: a code from the future does not keep anybody waiting for longer.
    if (ago < PAUSE_MS) throw new Failure("RATE_LIMITED", "A code was sent less than a minute ago.", { retryAfter: Math.ceil(Math.min(PAUSE_MS, PAUSE_MS - ago) / 1_000), fix: "Wait a minute; mail can take some." });
    await queueOwnerCode(tx, row, at);
  });
}

/** Confirms the owner's address by the code that was mailed there. CONFLICT when there is no address that needs one; INVALID_REQUEST for a wrong or old code. */
export async function confirmOwnerEmail(database: Database, actor: Actor, { code }: { code: string }, at: Date): Promise<OrganizationConfig> {
  const { organizationId } = actor;
  const confirmed = await inTransaction(database, async (tx) => {
    const row = await lockUnconfirmed(tx, organizationId);
    const isOurs = eq(organizations.id, organizationId);
    if (!isRightCode(row, { subject: organizationId, code, at })) {
      await tx.update(organizations).set({ codeTries: row.codeTries + 1 }).where(isOurs);
      return null;
    }
    const [after] = await tx.update(organizations).set({ ownerEmailConfirmedAt: at, codeHash: null }).where(isOurs).returning();
    await recordAudit(tx, actor, { action: "config.updated", resourceType: "organization", resourceId: organizationId, before: showOrganizationConfig(row), after: showOrganizationConfig(after!) });
    return showOrganizationConfig(after!);
  });
  // After the wrong try was counted.
  if (confirmed === null) throw wrongCode("POST …/send-code");
  return confirmed;
}

async function lockUnconfirmed(tx: Transaction, organizationId: string): Promise<OrganizationRow> {
  const [row] = await tx.select().from(organizations).where(eq(organizations.id, organizationId)).for("no key update");
  if (!row) throw noSuchOrganization();
  if (row.ownerEmail === null) throw new Failure("CONFLICT", "The organization has no address of its owner.", { fix: 'Set one with PATCH /api/v1/config {"owner_email": …}.' });
  if (row.ownerEmailConfirmedAt !== null) throw new Failure("CONFLICT", "The owner's address is confirmed already.", {});
  return row;
}

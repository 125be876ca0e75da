import { eq, sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { mails, subscribers } from "../../schemas/tables/all.ts";

/** A claimed mail, and whether it should still go. */
export interface DueMail {
  id: string;
  organizationId: string;
  subscriberId: string | null;
  attempts: number;
  to: string;
  subject: string;
  text: string;
  html: string | null;
  headers: Record<string, string>;
  /** Its subscriber left, or was quarantined, after it was written. */
  unwanted: boolean;
}

/** Claimed mails with all that sending them needs. */
export async function readDueMails(database: Database, ids: string[]): Promise<DueMail[]> {
  const rows = await database
    .select({ mail: mails, state: subscribers.state })
    .from(mails)
    .leftJoin(subscribers, eq(subscribers.id, mails.subscriberId))
    .where(sql`${mails.id} = any(${uuids(ids)})`);
  return rows.map(({ mail: { id, organizationId, subscriberId, attempts, to, subject, text, html, headers, kind }, state }) => ({
    id,
    organizationId,
    subscriberId,
    attempts,
    to,
    subject,
    text: text ?? "",
    html,
    headers: headers ?? {},
    unwanted: kind === "announcement" && state !== "active",
  }));
}

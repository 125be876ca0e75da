import { sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { mails } from "../../schemas/tables/all.ts";
import type { MAIL_KINDS } from "../../schemas/vocabulary.ts";
import { cutWhole } from "../cut-whole.ts";
import { storableJson } from "../events/storable-json.ts";

interface NewMail {
  organizationId: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** Beside those that every mail has; line breaks in them become spaces. */
  headers?: Record<string, string>;
  at: Date;
}

interface NewSubscribersMail extends NewMail {
  kind: Exclude<(typeof MAIL_KINDS)[number], "notice">;
  subscriberId: string;
  /** The event that it tells of: each subscriber is told once. */
  eventId?: string;
}

/** Longer subjects are cut; RFC 5322 wants lines below 998 bytes. */
const SUBJECT_LENGTH = 200;

/** Mail that no person wrote, so that no machine answers it (RFC 3834). */
const AUTOMATIC = { "Auto-Submitted": "auto-generated" };

/**
 * Puts a mail on its way in the transaction of what it tells of; the scheduler sends it, again while its server does not take it.
 * Without SMTP_URL it is recorded as failed.
 */
export async function queueMail(queries: Queries, mail: NewMail): Promise<void> {
  await insertMails(queries, [{ kind: "notice", ...mail }]);
}

/** The same for subscribers, any number in one statement; one who was told of the event already is not told again. */
export async function queueSubscribersMails(queries: Queries, mails: readonly NewSubscribersMail[]): Promise<void> {
  if (mails.length > 0) await insertMails(queries, mails);
}

async function insertMails(queries: Queries, given: readonly (NewMail & Partial<Omit<NewSubscribersMail, "kind">> & { kind: (typeof MAIL_KINDS)[number] })[]): Promise<void> {
  const rows = given.map(({ organizationId, kind, to, subject, text, html, headers, subscriberId, eventId, at }) => ({
    id: newId(),
    organization_id: organizationId,
    kind,
    to: oneLine(to),
    subject: cutWhole(oneLine(subject), SUBJECT_LENGTH),
    text,
    html: html ?? null,
    headers: { ...AUTOMATIC, ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, oneLine(value)])) },
    subscriber_id: subscriberId ?? null,
    event_id: eventId ?? null,
    at: at.toISOString(),
  }));
  await queries.execute(sql`
    insert into ${mails} (id, organization_id, kind, "to", subject, text, html, headers, subscriber_id, event_id, due_at, created_at)
    select id, organization_id, kind, "to", subject, text, html, headers, subscriber_id, event_id, at, at
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as row (id uuid, organization_id uuid, kind mail_kind, "to" text, subject text, text text, html text,
      headers jsonb, subscriber_id uuid, event_id uuid, at timestamptz)
    on conflict (event_id, subscriber_id) do nothing`);
}

/** Nothing that somebody wrote begins a header of its own. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

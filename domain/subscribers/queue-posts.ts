import { sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { subscriberPosts } from "../../schemas/tables/all.ts";
import { storableJson } from "../events/storable-json.ts";

interface NewPost {
  organizationId: string;
  subscriberId: string;
  /** The event that it tells of, each subscriber once; null for the request to confirm. */
  eventId: string | null;
  body: Record<string, unknown>;
  at: Date;
}

/** Puts requests to webhooks that subscribed on their way, any number in one statement. */
export async function queuePosts(tx: Transaction, posts: readonly NewPost[]): Promise<void> {
  if (posts.length === 0) return;
  const rows = posts.map(({ organizationId, subscriberId, eventId, body, at }) => ({ id: newId(), organization_id: organizationId, subscriber_id: subscriberId, event_id: eventId, body, at: at.toISOString() }));
  await tx.execute(sql`
    insert into ${subscriberPosts} (id, organization_id, subscriber_id, event_id, body, due_at, created_at)
    select id, organization_id, subscriber_id, event_id, body, at, at
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as row (id uuid, organization_id uuid, subscriber_id uuid, event_id uuid, body jsonb, at timestamptz)
    on conflict (event_id, subscriber_id) do nothing`);
}

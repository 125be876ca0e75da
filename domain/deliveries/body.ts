import type { EventType } from "../../schemas/vocabulary.ts";

interface StoredEvent {
  id: string;
  type: EventType;
  createdAt: Date;
  data: Record<string, unknown>;
}

/**
 * The body of a delivery. Made anew for each attempt from the event's row, which never changes: Postgres keeps the
 * fields of `jsonb` in an order of its own, so the bytes are the same each time.
 */
export function deliveryBody({ id, type, createdAt, data }: StoredEvent): string {
  return JSON.stringify({ id, event: type, timestamp: createdAt.toISOString(), data });
}

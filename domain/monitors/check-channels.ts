import { and, eq, inArray } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { channels } from "../../schemas/tables/all.ts";

/** The ids without repetitions; NOT_FOUND, with the place, unless every channel is the organization's own. */
export async function checkChannels(tx: Transaction, organizationId: string, ids: readonly string[]): Promise<string[]> {
  const wanted = ids.filter(isUuid);
  const rows = wanted.length === 0 ? [] : await tx.select({ id: channels.id }).from(channels).where(and(eq(channels.organizationId, organizationId), inArray(channels.id, wanted)));
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.findIndex((id) => !found.has(id.toLowerCase()));
  if (missing !== -1) throw new Failure("NOT_FOUND", "No such notification channel.", { path: `/notification_channels/${missing}`, fix: "GET /api/v1/notifications/channels lists the ids." });
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

import { and, desc, eq, isNull } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import type { ApiKey, ApiKeyListQuery } from "../../schemas/api/api-keys.ts";
import { apiKeys } from "../../schemas/tables/all.ts";
import type { Scope } from "../../schemas/vocabulary.ts";

/** An organization's keys that are not revoked, newest first; expired ones are among them. */
export async function listApiKeys(queries: Queries, organizationId: string, { limit, offset }: ApiKeyListQuery): Promise<ApiKey[]> {
  const rows = await queries
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showApiKey);
}

export function showApiKey(row: Omit<typeof apiKeys.$inferSelect, "hash">): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes as Scope[],
    expires_at: row.expiresAt?.toISOString() ?? null,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}

import { eq, sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { apiKeys, organizations } from "../../schemas/tables/all.ts";
import type { Plan } from "../../schemas/vocabulary.ts";

/** An API key with all that a door decides by. It may be expired or revoked. */
export interface FoundApiKey {
  id: string;
  hash: Buffer;
  name: string;
  organizationId: string;
  plan: Plan;
  scopes: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** The keys with these hashes, in no order; hashes that no key has are left out. */
export async function findApiKeys(queries: Queries, hashes: Buffer[]): Promise<FoundApiKey[]> {
  const { id, hash, name, organizationId, scopes, expiresAt, revokedAt } = apiKeys;
  return queries
    .select({ id, hash, name, organizationId, plan: organizations.plan, scopes, expiresAt, revokedAt })
    .from(apiKeys)
    .innerJoin(organizations, eq(organizations.id, organizationId))
    // One text of the statement for any number of them, so that it stays prepared.
    .where(sql`${hash} = any(${sql.param(hashes)}::bytea[])`);
}

import { eq } from "drizzle-orm";
import { createApiKey } from "../../domain/api-keys/create.ts";
import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { organizations } from "../../schemas/tables/all.ts";
import type { Scope } from "../../schemas/vocabulary.ts";
import { withDatabase } from "./with-database.ts";

export interface CreateKeyOptions {
  organizationId: string;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
  json: boolean;
}

/** `key create`: prints the key, which is not shown again. */
export async function createKeyCommand(config: Config, { organizationId, name, scopes, expiresAt, json }: CreateKeyOptions): Promise<number> {
  const made = await withDatabase(config, async (database) => {
    const found = isUuid(organizationId) ? await database.select({ id: organizations.id }).from(organizations).where(eq(organizations.id, organizationId)) : [];
    if (found.length === 0) throw new Failure("NOT_FOUND", `There is no organization ${organizationId}.`);
    const actor = { organizationId, type: "cli" as const, id: null, name: "pharos key create", ip: null, userAgent: null };
    const input = { name, scopes, ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }) };
    return createApiKey(database, actor, input, new Date());
  });
  if (json) console.log(JSON.stringify(made));
  else console.log(`The key "${name}" was made (${scopes.join(", ")}). It is shown this once.\n\n  ${made.key}`);
  return 0;
}

import { isDeepStrictEqual } from "node:util";
import { sql, type SQL } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { auditEntries } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { storableJson } from "../events/storable-json.ts";
import { maskSecrets } from "./mask-secrets.ts";

/** The resource before and after a change, as the API shows it; null where it did not or does not exist. */
type State = Record<string, unknown> | null;

interface AuditedChange {
  /** `service.created`, `incident.updated` …: the resource, a dot, what was done to it. */
  action: string;
  resourceType: string;
  resourceId: string;
  before: State;
  after: State;
}

/** Changes with every write, so it would say nothing as a changed field. */
const NOISE = new Set(["updated_at"]);

/**
 * Writes an audit entry in the change's own transaction: what was done, by whom, and which fields it changed.
 * Secrets are masked here, by field name, so callers pass the state as it is.
 */
export async function recordAudit(tx: Transaction, actor: Actor, change: AuditedChange): Promise<void> {
  await recordAudits(tx, actor, [change]);
}

/** The same for several changes, an entry for each, in one statement. At most some hundreds: each entry takes 13 of a statement's 65,535 parameters. */
export async function recordAudits(tx: Transaction, actor: Actor, changes: readonly AuditedChange[]): Promise<void> {
  if (changes.length > 0) await tx.insert(auditEntries).values(changes.map((change) => entryOf(actor, change)));
}

function entryOf(actor: Actor, { action, resourceType, resourceId, before, after }: AuditedChange) {
  return {
    id: newId(),
    organizationId: actor.organizationId,
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    action,
    resourceType,
    resourceId,
    changedFields: changedFields(before, after),
    before: stored(before),
    after: stored(after),
    ip: actor.ip,
    userAgent: actor.userAgent,
  };
}

/** Names of the top-level fields that differ, sorted; compared before masking, so that a changed secret is named. */
export function changedFields(before: State, after: State): string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].filter((name) => !NOISE.has(name) && !isDeepStrictEqual(before?.[name], after?.[name])).sort();
}

function stored(state: State): SQL | null {
  return state && sql`${storableJson(maskSecrets(state))}::jsonb`;
}

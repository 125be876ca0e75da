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

/** As JSON. */
const LARGE_CHARACTERS = 1_000;

/** Changes with every write, so it would say nothing as a changed field. */
const NOISE = new Set(["updated_at"]);

/**
 * Writes an audit entry in the change's own transaction: what was done, by whom, and which fields it changed.
 * Secrets are masked here, by field name, so callers pass the state as it is.
 */
export async function recordAudit(tx: Transaction, actor: Actor, change: AuditedChange): Promise<void> {
  await recordAudits(tx, actor, [change]);
}

/** The same for several changes, an entry for each, in one statement. */
export async function recordAudits(tx: Transaction, actor: Actor, changes: readonly AuditedChange[]): Promise<void> {
  if (changes.length > 0) await tx.execute(auditInsert(changes.map((change) => ({ ...change, actor }))));
}

/** The statement that writes audit entries, to stand alone or beside others in one `with`; `where` decides whether it writes. */
export function auditInsert(changes: readonly (AuditedChange & { actor: Actor })[], where: SQL = sql`true`): SQL {
  const rows = changes.map(entryOf);
  return sql`
    insert into ${auditEntries} (id, organization_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, changed_fields, before, after, ip, user_agent)
    select id, organization_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, changed_fields, before, after, ip, user_agent
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as row (id uuid, organization_id uuid, actor_type text, actor_id uuid, actor_name text,
      action text, resource_type text, resource_id uuid, changed_fields text[], before jsonb, after jsonb, ip inet, user_agent text)
    where ${where}`;
}

function entryOf({ actor, action, resourceType, resourceId, before, after }: AuditedChange & { actor: Actor }) {
  return {
    id: newId(),
    organization_id: actor.organizationId,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    action,
    resource_type: resourceType,
    resource_id: resourceId,
    changed_fields: changedFields(before, after),
    ...masked(withoutUnchanged(before, after)),
    ip: actor.ip,
    user_agent: actor.userAgent,
  };
}

/**
 * The states without large values that did not change: else a change of one word would store a page's whole markup twice, again and again.
 */
export function withoutUnchanged(before: State, after: State): { before: State; after: State } {
  if (before === null || after === null) return { before, after };
  const changed = changedFields(before, after);
  const kept = (state: Record<string, unknown>) => Object.fromEntries(Object.entries(state).filter(([name, value]) => changed.includes(name) || JSON.stringify(value ?? null).length <= LARGE_CHARACTERS));
  return { before: kept(before), after: kept(after) };
}

function masked({ before, after }: { before: State; after: State }) {
  return { before: before && maskSecrets(before), after: after && maskSecrets(after) };
}

/** Names of the top-level fields that differ, sorted; compared before masking, so that a changed secret is named. */
export function changedFields(before: State, after: State): string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].filter((name) => !NOISE.has(name) && !isDeepStrictEqual(before?.[name], after?.[name])).sort();
}

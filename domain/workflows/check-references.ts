import { and, eq, inArray } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { WorkflowStep } from "../../schemas/api/workflows.ts";
import { channels, services } from "../../schemas/tables/all.ts";
import { walkSteps } from "./walk-steps.ts";

interface Reference {
  kind: "service" | "channel";
  id: string;
  path: string;
}

const EXPLANATIONS: Record<Reference["kind"], { sentence: string; fix: string }> = {
  service: { sentence: "No such service.", fix: "GET /services lists the ids." },
  channel: { sentence: "No such notification channel.", fix: "GET /notifications/channels lists the ids." },
};

/**
 * Makes sure that services and channels that steps name by id are the organization's own, in two statements at most; one that is
 * deleted later fails the run. Ids with placeholders are only known in a run. INVALID_REQUEST with the place.
 */
export async function checkReferences(tx: Transaction, organizationId: string, steps: readonly WorkflowStep[]): Promise<void> {
  const references = [...walkSteps(steps)].flatMap(({ step, path }): Reference[] => {
    if (step.type === "set_service_status") return [{ kind: "service", id: step.service_id, path: `${path}/service_id` }];
    if (step.type === "notify") return [{ kind: "channel", id: step.channel_id, path: `${path}/channel_id` }];
    return [];
  });
  const fixed = references.filter(({ id }) => !id.includes("{{"));
  const wanted = (kind: Reference["kind"]) => [...new Set(fixed.filter((each) => each.kind === kind && isUuid(each.id)).map(({ id }) => id.toLowerCase()))];
  const found = {
    service: await ownIds(tx, services, organizationId, wanted("service")),
    channel: await ownIds(tx, channels, organizationId, wanted("channel")),
  };
  const missing = fixed.find(({ kind, id }) => !found[kind].has(id.toLowerCase()));
  if (!missing) return;
  const { sentence, fix } = EXPLANATIONS[missing.kind];
  throw new Failure("INVALID_REQUEST", sentence, { path: missing.path, fix });
}

async function ownIds(tx: Transaction, table: typeof services | typeof channels, organizationId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.select({ id: table.id }).from(table).where(and(eq(table.organizationId, organizationId), inArray(table.id, ids)));
  return new Set(rows.map(({ id }) => id));
}

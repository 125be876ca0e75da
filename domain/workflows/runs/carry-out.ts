import { and, eq } from "drizzle-orm";
import { Failure } from "../../../platform/failures.ts";
import { isUuid } from "../../../platform/ids.ts";
import { asDatabase, type Transaction } from "../../../platform/postgres/database.ts";
import type { WorkflowStep } from "../../../schemas/api/workflows.ts";
import { channels } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { queueMessage } from "../../channels/queue-message.ts";
import { cutWhole } from "../../cut-whole.ts";
import { addIncidentUpdate, updateIncident } from "../../incidents/change.ts";
import { openIncident } from "../../incidents/open.ts";
import { updateService } from "../../services/update.ts";
import { compare } from "./compare.ts";
import { makeTemplateFiller, StepFailure, type Scope, type TemplateFiller } from "./fill-templates.ts";
import { after, branch, type Position } from "./position.ts";
import type { ClaimedRun } from "./read-claimed.ts";
import { requireRights, runActor } from "./require-rights.ts";

/** All but those that ask somebody outside. */
export type InnerStep = Exclude<WorkflowStep, { type: "http_request" }>;

/** What a step brought. */
export interface Carried {
  result: Record<string, unknown>;
  next: Position;
  /** When the run goes on, where that is not at once. */
  until?: Date;
}

const LONGEST_MESSAGE = 10_000;
const LONGEST_TITLE = 255;

type Step<Type extends InnerStep["type"]> = Extract<InnerStep, { type: Type }>;

interface Context {
  run: ClaimedRun;
  position: string;
  scope: Scope;
  at: Date;
}

type CarryContext = Omit<Context, "scope"> & { actor: Actor; next: Position; fill: TemplateFiller };

type Carry<Type extends InnerStep["type"]> = (tx: Transaction, step: Step<Type>, context: CarryContext) => Promise<Carried>;

const CARRY: { [Type in InnerStep["type"]]: Carry<Type> } = {
  wait: (_, { seconds }, { next, at }) => Promise.resolve({ result: { seconds }, next, until: new Date(at.getTime() + seconds * 1_000) }),
  condition: (_, { left, op, right }, { run, position, fill }) => {
    const holds = compare(fill.value(left), op, fill.value(right));
    return Promise.resolve({ result: { holds }, next: branch(run.steps, position, holds) });
  },
  set_service_status: async (tx, { service_id: serviceId, status: wanted }, { actor, fill, next, at }) => {
    const { id, name, status } = await updateService(asDatabase(tx), actor, fill.text(serviceId), { status: wanted }, at);
    return { result: { id, name, status }, next };
  },
  create_incident: async (tx, step, context) => ({ result: await open(tx, step, context), next: context.next }),
  update_incident: async (tx, step, context) => ({ result: await update(tx, step, context), next: context.next }),
  notify: async (tx, { channel_id, message }, { run: { organizationId }, fill, next, at }) => {
    const channelId = await ownChannel(tx, organizationId, fill.text(channel_id));
    const id = await queueMessage(tx, { organizationId, channelId, text: cutWhole(fill.text(message), LONGEST_MESSAGE), trigger: "workflow", at });
    return { result: { notification_id: id }, next };
  },
};

/**
 * Carries a step out in the transaction that records it, so that it happens exactly once. All that it names must be the organization's own, and who saved
 * the workflow must be allowed to do it now.
 * Throws StepFailure or Failure for what cannot be done, whereupon the transaction must be rolled back.
 */
export async function carryOut(tx: Transaction, step: InnerStep, context: Context): Promise<Carried> {
  const { run, position, scope, at } = context;
  await requireRights(tx, run, step, at);
  const carry = CARRY[step.type] as Carry<InnerStep["type"]>;
  return carry(tx, step, { run, position, at, fill: makeTemplateFiller(scope), actor: runActor(run), next: after(run.steps, position) });
}

async function open(tx: Transaction, { title, severity, message, services = [] }: Step<"create_incident">, { actor, fill, at }: CarryContext): Promise<Record<string, unknown>> {
  const text = message === undefined ? undefined : cutWhole(fill.text(message), LONGEST_MESSAGE);
  const filled = cutWhole(fill.text(title).trim(), LONGEST_TITLE);
  if (filled === "") throw new StepFailure("The incident's title is empty.");
  const input = { title: filled, status: "investigating" as const, severity: severity ?? ("minor" as const), services: services.map((each) => fill.text(each)), ...(text && { message: text }), at };
  const incident = await openIncident(asDatabase(tx), actor, input);
  return { id: incident.id, title: incident.title, status: incident.status, severity: incident.severity };
}

async function update(tx: Transaction, { incident_id, status, message }: Step<"update_incident">, { actor, fill, at }: CarryContext): Promise<Record<string, unknown>> {
  const id = fill.text(incident_id);
  const text = message === undefined ? "" : cutWhole(fill.text(message), LONGEST_MESSAGE);
  const incident =
    text === ""
      ? await updateIncident(asDatabase(tx), actor, id, { ...(status && { status }) }, at)
      : await addIncidentUpdate(asDatabase(tx), actor, id, { message: text, ...(status && { status }), notify: true }, at);
  return { id: incident.id, title: incident.title, status: incident.status, severity: incident.severity };
}

async function ownChannel(tx: Transaction, organizationId: string, id: string): Promise<string> {
  const [found] = isUuid(id) ? await tx.select({ id: channels.id }).from(channels).where(and(eq(channels.organizationId, organizationId), eq(channels.id, id))) : [];
  if (!found) throw new Failure("NOT_FOUND", "No such notification channel.");
  return found.id;
}

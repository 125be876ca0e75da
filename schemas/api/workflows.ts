import { z } from "zod";
import { EVENT_TYPES, INCIDENT_SEVERITIES, INCIDENT_STATUSES, SERVICE_STATUSES, STEP_OUTCOMES, WORKFLOW_RUN_STATUSES, WORKFLOW_TRIGGERS } from "../vocabulary.ts";
import { limit, Name, Offset, StepText, StepTitle, Timestamp } from "./shared.ts";

/** Thirty days. */
const LONGEST_WAIT_SECONDS = 2_592_000;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Headers that say how a request is transferred (RFC 9110 §7.6.1). */
const RESERVED_HEADER = /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|proxy-connection)$/i;

const StepName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/, "must begin with a letter or _ and hold at most 63 letters, digits, _ and -")
  .optional()
  .meta({ description: "Names what the step gives, for `{{steps.<name>.<field>}}`; unique in the workflow.", example: "ask" });
const Id = z.string().min(1).max(255);
const Value = z.union([z.string().max(10_000), z.number(), z.boolean()]);

const RequestHeaders = z
  .record(z.string(), z.string().max(4096))
  .meta({ maxProperties: 50 })
  .superRefine((headers, context) => {
    const fault = (message: string, ...path: string[]) => context.addIssue({ code: "custom", message, path });
    if (Object.keys(headers).length > 50) return fault("must be at most 50 headers");
    for (const [name, value] of Object.entries(headers)) {
      if (!HEADER_NAME.test(name)) fault("is no valid header name", name);
      else if (RESERVED_HEADER.test(name)) fault("is a header that each request sets itself", name);
      else if (!/^[\t\x20-\x7e]*$/.test(value)) fault("must be printable ASCII", name);
    }
  })
  .meta({ description: "Values of headers that authenticate are masked when the workflow is shown; a masked value that is sent back with the same method and URL keeps the stored one.", example: { "X-Team": "checkout" } });

const HttpRequest = z.strictObject({
  type: z.literal("http_request"),
  name: StepName,
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
  url: z.string().min(1).max(2048).meta({ description: "https, an address that is public, no credentials.", example: "https://ci.example.com/deploys/{{inputs.id}}" }),
  headers: RequestHeaders.optional(),
  body: z
    .union([z.string().max(100_000), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .optional()
    .meta({ description: "A text is sent as it is, anything else as JSON." }),
  timeout_ms: z.int().min(100).max(30_000).optional().meta({ description: "10,000 when left out." }),
});

const SetServiceStatus = z.strictObject({ type: z.literal("set_service_status"), name: StepName, service_id: Id, status: z.enum(SERVICE_STATUSES) });

const CreateIncidentStep = z.strictObject({
  type: z.literal("create_incident"),
  name: StepName,
  title: StepTitle,
  severity: z.enum(INCIDENT_SEVERITIES).optional(),
  message: StepText.min(1).optional(),
  services: z.array(Id).max(2500).optional().meta({ description: "Names or ids." }),
});

const UpdateIncidentStep = z.strictObject({
  type: z.literal("update_incident"),
  name: StepName,
  incident_id: Id.meta({ example: "{{steps.open.id}}" }),
  status: z.enum(INCIDENT_STATUSES).optional(),
  message: StepText.min(1).optional(),
});

const Notify = z.strictObject({ type: z.literal("notify"), name: StepName, channel_id: Id, message: StepText.min(1) });

const Wait = z.strictObject({ type: z.literal("wait"), name: StepName, seconds: z.int().min(1).max(LONGEST_WAIT_SECONDS) });

const steps = z.array(z.lazy(() => WorkflowStep)).max(50);

const Condition = z.strictObject({
  type: z.literal("condition"),
  name: StepName,
  left: Value.meta({ example: "{{steps.ask.status}}" }),
  op: z.enum(["eq", "ne", "gt", "lt", "contains"]),
  right: Value.meta({ example: 200 }),
  // oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
  then: steps,
  else: steps.optional(),
});

type LeafStep = z.infer<typeof HttpRequest | typeof SetServiceStatus | typeof CreateIncidentStep | typeof UpdateIncidentStep | typeof Notify | typeof Wait>;

export interface ConditionStep {
  type: "condition";
  name?: string | undefined;
  left: string | number | boolean;
  op: "eq" | "ne" | "gt" | "lt" | "contains";
  right: string | number | boolean;
  then: WorkflowStep[];
  else?: WorkflowStep[] | undefined;
}

export type WorkflowStep = LeafStep | ConditionStep;

const STEP_TYPES = ["http_request", "set_service_status", "create_incident", "update_incident", "notify", "wait", "condition"] as const satisfies readonly WorkflowStep["type"][];

/** Names the types, where the library would only say that none fits. */
const unfit = (field: string, types: readonly string[]) => (issue: { code?: string | undefined }) => (issue.code === "invalid_union" ? `must be one of ${types.join(", ")}` : issue.code === "invalid_type" ? `must be an object with a ${field}` : undefined);

/** One step; a condition holds further ones. */
const WorkflowStep: z.ZodType<WorkflowStep, WorkflowStep> = z
  .discriminatedUnion("type", [HttpRequest, SetServiceStatus, CreateIncidentStep, UpdateIncidentStep, Notify, Wait, Condition], { error: unfit("type", STEP_TYPES) })
  .meta({ id: "WorkflowStep" });

const Steps = z
  .array(WorkflowStep)
  .min(1)
  .max(50)
  .meta({
    description:
      "Carried out in order: at most 50, those inside conditions counted, of 256 KiB together, and conditions at most 5 deep. Texts may hold `{{inputs.x}}`, `{{event.data.x}}` and `{{steps.<name>.<field>}}`.",
    example: [{ type: "notify", channel_id: "5c1f8f6e-1111-4222-8333-444455556666", message: "Deploying {{inputs.version}}" }],
  });

const Trigger = z
  .discriminatedUnion(
    "type",
    [
      z.strictObject({ type: z.literal("manual") }),
      z.strictObject({ type: z.literal("event"), event: z.enum(EVENT_TYPES).meta({ example: "incident.created" }) }),
      z.strictObject({ type: z.literal("schedule"), cron: z.string().min(1).max(200).meta({ description: "Five fields, or six with seconds in front; times are UTC.", example: "0 3 * * *" }) }),
    ],
    { error: unfit("type", WORKFLOW_TRIGGERS) },
  )
  .meta({ description: "What starts a run. Any workflow can be started by hand as well." });

export const Workflow = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Announce a deployment" }),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable().meta({ description: "Why Pharos disabled it: the key that saved it was revoked or has expired." }),
    saved_by: z.object({ type: z.enum(["api_key", "cli", "system"]), id: z.uuid().nullable(), name: z.string() }).meta({ description: "Who saved it last: its steps can do what that one may do at the time." }),
    trigger: Trigger,
    steps: z.array(WorkflowStep),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Workflow" });
export type Workflow = z.infer<typeof Workflow>;

export const WorkflowList = z.object({ workflows: z.array(Workflow) });
export const WorkflowListQuery = z.object({ limit: limit(50, 100), offset: Offset });
export type WorkflowListQuery = z.infer<typeof WorkflowListQuery>;

export const CreateWorkflow = z
  .strictObject({ name: Name.meta({ example: "Announce a deployment" }), enabled: z.boolean().default(true), trigger: Trigger.default({ type: "manual" }), steps: Steps })
  .meta({ id: "CreateWorkflow" });
export type CreateWorkflow = z.infer<typeof CreateWorkflow>;

export const UpdateWorkflow = z
  .strictObject({
    name: Name.optional(),
    enabled: z.boolean().optional().meta({ description: "False: nothing starts a run. Runs that have begun go on." }),
    trigger: Trigger.optional(),
    steps: Steps.optional().meta({ description: "Replaces all steps, for runs that begin from now on." }),
  })
  .meta({ id: "UpdateWorkflow" });
export type UpdateWorkflow = z.infer<typeof UpdateWorkflow>;

export const TriggerWorkflow = z
  .strictObject({ inputs: z.record(z.string(), z.unknown()).default({}).meta({ description: "What `{{inputs.x}}` stands for in the steps; at most 64 KiB as JSON.", example: { version: "1.4.2" } }) })
  .meta({ id: "TriggerWorkflow" });
export type TriggerWorkflow = z.infer<typeof TriggerWorkflow>;

const RunStatus = z.enum(WORKFLOW_RUN_STATUSES).meta({ example: "queued" });

export const TriggeredRun = z.object({ run_id: z.uuid(), status: RunStatus });

const StepTrace = z
  .object({
    path: z.string().meta({ description: "Where the step stands in the workflow.", example: "/steps/0" }),
    name: z.string().nullable(),
    type: z.enum(STEP_TYPES),
    outcome: z.enum(STEP_OUTCOMES).meta({ description: "`retried`: the request failed and is made again." }),
    attempt: z.int().meta({ description: "1 for the first try." }),
    result: z.record(z.string(), z.unknown()).optional().meta({ description: "What the step gave; of an answer the first 2 KiB. Secrets are masked." }),
    error: z.string().optional().meta({ description: "Why it failed." }),
    started_at: Timestamp,
    finished_at: Timestamp,
  })
  .meta({ id: "WorkflowStepTrace" });
export type StepTrace = z.infer<typeof StepTrace>;

export const WorkflowRun = z
  .object({
    id: z.uuid(),
    workflow_id: z.uuid(),
    trigger: z.enum(WORKFLOW_TRIGGERS).meta({ description: "What started it." }),
    status: RunStatus.meta({ description: "`waiting`: in a wait step, or before a request is tried again; `next_at` says until when." }),
    inputs: z.record(z.string(), z.unknown()).meta({ description: "Values with names such as token or password are masked." }),
    event: z.object({ id: z.uuid(), type: z.string() }).nullable().meta({ description: "The event that started it." }),
    next_step: z.string().nullable().meta({ description: "The step that comes next; null when it has ended.", example: "/steps/1" }),
    next_at: Timestamp.nullable().meta({ description: "When it goes on, while it waits." }),
    trace: z.array(StepTrace).meta({ description: "What each step that was carried out did, in order." }),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: "WorkflowRun" });
export type WorkflowRun = z.infer<typeof WorkflowRun>;

export const WorkflowRunList = z.object({ runs: z.array(WorkflowRun) });
export const WorkflowRunListQuery = z.object({ limit: limit(50, 100), offset: Offset });
export type WorkflowRunListQuery = z.infer<typeof WorkflowRunListQuery>;
export const WorkflowRunPath = z.object({ runId: z.string() });

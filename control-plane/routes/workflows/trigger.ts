import { triggerWorkflow } from "../../../domain/workflows/trigger.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { TriggeredRun, TriggerWorkflow } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const trigger = route({
  method: "POST",
  path: "/workflows/:id/trigger",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "Start a workflow by hand",
  description: "Queues a run and answers at once; `GET /workflows/runs/{runId}` tells how it goes. A workflow that is disabled cannot be started.",
  params: PathId,
  body: TriggerWorkflow,
  response: TriggeredRun,
  status: 202,
  failures: ["CONFLICT"],
  handle: ({ params, body, actor, needs }) => triggerWorkflow(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});

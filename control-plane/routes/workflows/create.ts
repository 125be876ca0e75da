import { createWorkflow } from "../../../domain/workflows/create.ts";
import { CreateWorkflow, Workflow } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/workflows",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "Create a workflow",
  description: "Services and channels that steps name by id must be the organization's own.",
  body: CreateWorkflow,
  response: Workflow,
  status: 201,
  failures: ["PLAN_LIMIT"],
  handle: ({ body, actor, needs }) => createWorkflow(needs, actor, body, new Date(needs.clock.now())),
});

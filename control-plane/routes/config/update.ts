import { updateOrganizationConfig } from "../../../domain/organizations/update-config.ts";
import { OrganizationConfigAnswer, UpdateOrganizationConfig } from "../../../schemas/api/organizations.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/config",
  scope: "config:write",
  tag: "Configuration",
  summary: "Change the organization's configuration",
  description: "What is left out stays. The plan is read only.",
  body: UpdateOrganizationConfig,
  response: OrganizationConfigAnswer,
  failures: ["PLAN_RESTRICTED"],
  handle: async ({ body, actor, needs }) => ({ config: await updateOrganizationConfig(needs.database, actor, body, new Date(needs.clock.now())) }),
});

import { getOrganizationConfig } from "../../../domain/organizations/read.ts";
import { OrganizationConfigAnswer } from "../../../schemas/api/organizations.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/config",
  scope: "config:read",
  tag: "Configuration",
  summary: "Get the organization's configuration",
  response: OrganizationConfigAnswer,
  handle: async ({ actor, needs }) => ({ config: await getOrganizationConfig(needs.database, actor.organizationId) }),
});

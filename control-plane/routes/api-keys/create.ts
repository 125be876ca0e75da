import { createApiKey } from "../../../domain/api-keys/create.ts";
import { CreateApiKey, CreatedApiKey } from "../../../schemas/api/api-keys.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/api-keys",
  scope: "config:write",
  tag: "API keys",
  summary: "Make an API key",
  description: "The key is shown in this answer only. A key can only grant scopes that it holds itself, and its keys end no later than it does.",
  body: CreateApiKey,
  response: CreatedApiKey,
  status: 201,
  failures: ["PLAN_LIMIT"],
  handle: ({ body, actor, needs }) => createApiKey(needs.database, actor, body, new Date(needs.clock.now())),
});

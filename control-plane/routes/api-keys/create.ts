import { createApiKey } from "../../../domain/api-keys/create.ts";
import { CreateApiKey, CreatedApiKey } from "../../../schemas/api/api-keys.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/api-keys",
  scope: "config:write",
  tag: "API keys",
  summary: "Make an API key",
  description: "The key is shown in this answer only. A key can only grant scopes that it holds itself.",
  body: CreateApiKey,
  response: CreatedApiKey,
  status: 201,
  handle: ({ body, actor, scopes, needs }) => createApiKey(needs.database, actor, body, { heldScopes: scopes, at: new Date(needs.clock.now()) }),
});

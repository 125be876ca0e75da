import { listApiKeys } from "../../../domain/api-keys/read.ts";
import { ApiKeyList, ApiKeyListQuery } from "../../../schemas/api/api-keys.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/api-keys",
  scope: "config:read",
  tag: "API keys",
  summary: "List API keys",
  description: "All keys that are not revoked, newest first.",
  query: ApiKeyListQuery,
  response: ApiKeyList,
  handle: async ({ actor, query, needs }) => ({ api_keys: await listApiKeys(needs.database, actor.organizationId, query) }),
});

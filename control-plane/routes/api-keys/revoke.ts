import { revokeApiKey } from "../../../domain/api-keys/revoke.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const revoke = route({
  method: "DELETE",
  path: "/api-keys/:id",
  scope: "config:write",
  tag: "API keys",
  summary: "Revoke an API key",
  description: "The key stops working everywhere within 5 seconds, for good. A key may revoke itself, and keys whose scopes it holds.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await revokeApiKey(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const };
  },
});

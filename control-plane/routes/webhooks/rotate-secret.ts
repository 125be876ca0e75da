import { rotateSecret } from "../../../domain/webhooks/rotate-secret.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { WebhookWithSecret } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const rotate = route({
  method: "POST",
  path: "/webhooks/:id/rotate-secret",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Give a webhook a new signing secret",
  description: "The new secret is shown this once and signs every attempt from now on, retries too.",
  params: PathId,
  response: WebhookWithSecret,
  handle: ({ params, actor, needs }) => rotateSecret(needs.database, actor, params.id, new Date(needs.clock.now())),
});

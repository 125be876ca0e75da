import { rotateSecret } from "../../../domain/webhooks/rotate-secret.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { RotatedSecret, RotateSecret } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const rotate = route({
  method: "POST",
  path: "/webhooks/:id/rotate-secret",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Give a webhook a new signing secret",
  description:
    "The new secret is shown this once and signs every attempt from now on, retries too. For 24 hours the one before signs them as well: `webhook-signature` then holds two signatures, and `X-Service-Signature-Previous` stands beside `X-Service-Signature`. Rotated again within that time, the oldest ends at once.",
  params: PathId,
  body: RotateSecret,
  response: RotatedSecret,
  handle: ({ params, body, actor, needs }) => rotateSecret(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});

import type { FinalFailure } from "./disable.ts";
import type { WebhookRow } from "./read.ts";

/** What the owner is told of a webhook that Pharos disabled. Of its URL only the origin: path and query may hold a secret. */
export function describeDisabled({ id, name, url }: Pick<WebhookRow, "id" | "name" | "url">, { reason, statusCode, since }: FinalFailure, at: Date): { subject: string; text: string } {
  const answer = statusCode === null ? "there was no complete answer" : `the answer was ${statusCode}`;
  const why =
    reason === "gone"
      ? "its receiver answered 410, which means that it is gone for good"
      : `an event failed at its first attempt and at all its retries, since ${since.toISOString()}; at the last one ${answer}`;
  return {
    subject: `Webhook "${name}" was disabled`,
    text: [
      `The webhook "${name}" to ${new URL(url).origin} was disabled at ${at.toISOString()}, because ${why}.`,
      "Events from now on are not delivered to it, and what was waiting was given up.",
      `When the receiver works again: POST /api/v1/webhooks/${id}/test tries it, PATCH /api/v1/webhooks/${id} with {"is_active": true} enables it, and POST /api/v1/webhooks/${id}/redeliver-failed with {"since": "${since.toISOString()}"} delivers again what failed or was given up.`,
    ].join("\n"),
  };
}

import { testChannel } from "../../../domain/notifications/test-channel.ts";
import { ChannelTest } from "../../../schemas/api/notifications.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

/** Shorter than a shutdown may take, so that a stop does not cut the answer. */
const WAIT_MS = 8_000;

export const test = route({
  method: "POST",
  path: "/notifications/channels/:id/test",
  scope: "notifications:write",
  tag: "Notification channels",
  summary: "Send a test notification",
  description: "Tells the channel that this is a test, once, also when it is disabled, and answers with what the vendor said; after 8 seconds without an answer, with the pending notification. At PagerDuty it opens an alert of severity info.",
  params: PathId,
  response: ChannelTest,
  // The scheduler tells the channel, and has to see what.
  commitsEarly: true,
  handle: async ({ params, actor, needs }) => {
    const notification = await testChannel(needs.database, actor.organizationId, params.id, { at: new Date(needs.clock.now()), waitMs: WAIT_MS });
    return { success: notification.status === "delivered", notification };
  },
});

import { listSubscribers } from "../../../domain/subscribers/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { SubscriberList, SubscriberListQuery } from "../../../schemas/api/subscribers.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/status-pages/:id/subscribers",
  scope: "status_pages:read",
  tag: "Subscribers",
  summary: "List a status page's subscribers",
  description: "Newest first. Visitors subscribe by themselves: `POST /pages/{slug}/subscribers {email | webhook_url, services?}`, then they follow the link that they are sent.",
  params: PathId,
  query: SubscriberListQuery,
  response: SubscriberList,
  handle: ({ params, query, actor, needs }) => listSubscribers(needs.database, actor.organizationId, params.id, query),
});

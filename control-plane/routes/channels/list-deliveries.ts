import { listNotifications } from "../../../domain/notifications/read.ts";
import { NotificationList, NotificationListQuery } from "../../../schemas/api/notifications.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const deliveries = route({
  method: "GET",
  path: "/notifications/channels/:id/deliveries",
  scope: "notifications:read",
  tag: "Notification channels",
  summary: "List what a channel was told",
  description: "With the vendor's answers, of the last 30 days. A retry is the same notification. Newest first.",
  params: PathId,
  query: NotificationListQuery,
  response: NotificationList,
  handle: ({ params, query, actor, needs }) => listNotifications(needs.database, actor.organizationId, params.id, query),
});

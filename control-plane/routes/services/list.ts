import { listServices } from "../../../domain/services/read.ts";
import { ServiceList, ServiceListQuery } from "../../../schemas/api/services.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/services",
  scope: "services:read",
  tag: "Services",
  summary: "List services",
  description: "In display order, each with the status that follows from everything known about it.",
  query: ServiceListQuery,
  response: ServiceList,
  keptUntilChange: true,
  handle: async ({ actor, query, needs }) => ({ services: await listServices(needs.database, actor.organizationId, query) }),
});

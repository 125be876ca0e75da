import { listServices } from "../../../domain/services/read.ts";
import { ServiceList } from "../../../schemas/api/services.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/services",
  scope: "services:read",
  tag: "Services",
  summary: "List services",
  description: "All services in display order, each with the status that follows from everything known about it.",
  response: ServiceList,
  keptUntilChange: true,
  handle: async ({ actor, needs }) => ({ services: await listServices(needs.database, actor.organizationId) }),
});

import { createService } from "../../../domain/services/create.ts";
import { CreateService, Service } from "../../../schemas/api/services.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/services",
  scope: "services:write",
  tag: "Services",
  summary: "Create a service",
  body: CreateService,
  response: Service,
  status: 201,
  failures: ["PLAN_LIMIT"],
  handle: ({ body, actor, needs }) => createService(needs.database, actor, body, new Date(needs.clock.now())),
});

import { getService } from "../../../domain/services/read.ts";
import { Service } from "../../../schemas/api/services.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/services/:id",
  scope: "services:read",
  tag: "Services",
  summary: "Get a service",
  params: PathId,
  response: Service,
  handle: ({ params, actor, needs }) => getService(needs.database, actor.organizationId, params.id),
});

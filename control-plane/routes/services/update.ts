import { updateService } from "../../../domain/services/update.ts";
import { Service, UpdateService } from "../../../schemas/api/services.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/services/:id",
  scope: "services:write",
  tag: "Services",
  summary: "Change a service",
  params: PathId,
  body: UpdateService,
  response: Service,
  handle: ({ params, body, actor, needs }) => updateService(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});

import { getRelease } from "../../../domain/releases/read.ts";
import { Release } from "../../../schemas/api/releases.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/releases/:id",
  scope: "monitors:read",
  tag: "Releases",
  summary: "Get a release",
  params: PathId,
  response: Release,
  handle: ({ params, actor, needs }) => getRelease(needs.database, actor.organizationId, params.id),
});

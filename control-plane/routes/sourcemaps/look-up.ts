import { lookUpSourceMap } from "../../../domain/source-maps/look-up.ts";
import { LookUpSourceMap, SourceMapLookup } from "../../../schemas/api/source-maps.ts";
import { route } from "../../route.ts";

export const lookUp = route({
  method: "POST",
  path: "/sourcemaps/lookup",
  scope: "monitors:read",
  tag: "Source maps",
  summary: "Look a position up",
  description: "The original of one place of a script, by the uploaded maps, or why there is none: to find out in a minute what is missing.",
  body: LookUpSourceMap,
  response: SourceMapLookup,
  failures: ["NOT_FOUND"],
  handle: ({ body, actor, needs }) => lookUpSourceMap(needs.database, actor.organizationId, body),
});

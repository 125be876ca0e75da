import { uploadSourceMap } from "../../../domain/source-maps/upload.ts";
import { SOURCE_MAP_BYTES, SourceMapUploaded, UploadSourceMap } from "../../../schemas/api/source-maps.ts";
import { route } from "../../route.ts";

export const upload = route({
  method: "POST",
  path: "/sourcemaps",
  scope: "monitors:write",
  tag: "Source maps",
  summary: "Upload a source map",
  description: "For a script of a release, in place of the map that was there. `curl -F file=@dist/app.js.map -F url='~/app.js' -F release=1.4.0 -F service_id=…`; maps of up to 64 MiB.",
  body: UploadSourceMap,
  form: { fileBytes: SOURCE_MAP_BYTES },
  response: SourceMapUploaded,
  status: 201,
  failures: ["PLAN_RESTRICTED", "PLAN_LIMIT", "INVALID_SOURCE_MAP", "NOT_FOUND"],
  // Reading a map takes seconds, for which no transaction is kept open; sent twice it is stored once.
  commitsEarly: true,
  handle: async ({ body, actor, needs }) => ({ success: true as const, sourcemap: await uploadSourceMap(needs.database, needs.indexSourceMap, actor, body, new Date(needs.clock.now())) }),
});

import { updateBeaconKey } from "../../../domain/beacon-keys/change.ts";
import { BeaconKey, UpdateBeaconKey } from "../../../schemas/api/beacon-keys.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/beacon-keys/:id",
  scope: "monitors:write",
  tag: "Beacon keys",
  summary: "Change a beacon key",
  params: PathId,
  body: UpdateBeaconKey,
  response: BeaconKey,
  handle: ({ params, body, actor, needs }) => updateBeaconKey(needs.database, actor, params.id, body),
});

import { deleteBeaconKey } from "../../../domain/beacon-keys/change.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/beacon-keys/:id",
  scope: "monitors:write",
  tag: "Beacon keys",
  summary: "Delete a beacon key",
  description: "Beacons with this key are refused within seconds. What it brought in stays.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteBeaconKey(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const };
  },
});

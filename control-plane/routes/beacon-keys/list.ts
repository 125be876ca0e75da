import { listBeaconKeys } from "../../../domain/beacon-keys/read.ts";
import { BeaconKeyList, BeaconKeyListQuery } from "../../../schemas/api/beacon-keys.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/beacon-keys",
  scope: "monitors:read",
  tag: "Beacon keys",
  summary: "List beacon keys",
  description: "Newest first, with the keys themselves: they are public.",
  query: BeaconKeyListQuery,
  response: BeaconKeyList,
  handle: async ({ actor, query, needs }) => ({ beacon_keys: await listBeaconKeys(needs.database, actor.organizationId, query) }),
});

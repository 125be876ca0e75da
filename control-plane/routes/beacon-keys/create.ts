import { createBeaconKey } from "../../../domain/beacon-keys/create.ts";
import { BeaconKey, CreateBeaconKey } from "../../../schemas/api/beacon-keys.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/beacon-keys",
  scope: "monitors:write",
  tag: "Beacon keys",
  summary: "Make a beacon key",
  body: CreateBeaconKey,
  response: BeaconKey,
  status: 201,
  failures: ["NOT_FOUND", "PLAN_LIMIT"],
  handle: ({ body, actor, needs }) => createBeaconKey(needs.database, actor, body, new Date(needs.clock.now())),
});

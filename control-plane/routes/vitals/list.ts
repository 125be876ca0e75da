import { readVitals } from "../../../domain/vitals/read.ts";
import { VitalList, VitalsQuery } from "../../../schemas/api/vitals.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/vitals",
  scope: "monitors:read",
  tag: "Errors",
  summary: "Read web vitals",
  description: "The 75th percentile of each vital that beacons reported in the window, by the time it was measured.",
  query: VitalsQuery,
  response: VitalList,
  failures: ["UNAVAILABLE"],
  handle: ({ query, actor, needs }) => readVitals(needs, actor.organizationId, query, needs.clock.now()),
});

import { createRelease } from "../../../domain/releases/create.ts";
import { CreateRelease, Release } from "../../../schemas/api/releases.ts";
import { route, withStatus } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/releases",
  scope: "monitors:write",
  tag: "Releases",
  summary: "Tell of a release",
  description: "A version is one release of its service: when it exists already, because a beacon named it or the request is repeated, the fields that are given are stored with it.",
  body: CreateRelease,
  response: Release,
  status: 201,
  otherStatus: { status: 200, description: "The release existed already." },
  failures: ["NOT_FOUND"],
  async handle({ body, actor, needs }) {
    const { release, created } = await createRelease(needs.database, actor, body, new Date(needs.clock.now()));
    return withStatus(created ? 201 : 200, release);
  },
});

import { expect, it } from "vitest";
import { earlierFingerprint } from "./earlier-fingerprint.ts";
import type { Groupable } from "./fingerprint.ts";
import { parseStack } from "./parse-stack.ts";

const APP = "https://shop.example/assets/app-3f2a9c1b.js";

/** As the version before v2 computed them: signatures that people have were made so. */
const MADE: [stack: string, rest: Partial<Groupable>, fingerprint: string][] = [
  [`pay@${APP}:1:1\nasync*go@${APP}:2:2`, {}, "75fd0c8b971de64e056328627c5b27d9"],
  [`HttpError@${APP}:1:1\n@https://shop.example/cart?x=1:9:9`, {}, "91361cc22d055173891df68ef7c1220d"],
  [`@${APP}:1:1`, {}, "1ab23752d8aed399993929fb59dd34bf"],
  ["", {}, "194b3c491d2fb95517448901329210a4"],
  [`a@${APP}:1:1`, { custom: ["x", "{{default}}"], causes: [{ type: "E", message: "m 1", frames: [] }] }, "d04a33cd8b117de3f32e03c8ab568893"],
];

it.each(MADE)("the fingerprint by the rules of v1 stays: %j %j", (stack, rest, made) => {
  expect(earlierFingerprint({ type: "TypeError", message: "User 42 not found", frames: parseStack(stack).frames, ...rest })).toBe(made);
});

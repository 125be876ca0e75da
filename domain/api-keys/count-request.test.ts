import { expect, test } from "vitest";
import { makeRateLimit } from "../../platform/rate-limit.ts";
import { countRequest, tooManyRequests } from "./count-request.ts";

function setUp(limitPerMinute: number) {
  const rateLimit = makeRateLimit({ clock: { now: () => 0, monotonic: () => 0 } });
  return (id: string, kind = "", organizationId = "shop") => countRequest(rateLimit, kind, { id, organizationId }, limitPerMinute);
}

test("all keys of an organization together have five times the limit of one, and the tighter limit is told", () => {
  const count = setUp(10);
  expect(count("key 1")).toMatchObject({ allowed: true, limit: 10, remaining: 9 });
  for (let key = 2; key <= 5; key++) for (let n = 0; n < 10; n++) expect(count(`key ${key}`).allowed).toBe(true);
  expect(count("key 6")).toMatchObject({ allowed: true, limit: 50, remaining: 8 });
  for (let n = 0; n < 8; n++) expect(count("key 1").allowed).toBe(true);
  const refused = count("key 7");
  expect(refused).toMatchObject({ allowed: false, limit: 50, remaining: 0 });
  expect(tooManyRequests(refused, 10).message).toBe("More than 50 requests with all keys of this organization in this minute.");
  // Another organization, and another kind of request, count apart.
  expect(count("key 8", "", "other")).toMatchObject({ allowed: true, limit: 10 });
  expect(count("key 7", "metrics/")).toMatchObject({ allowed: true, limit: 10 });
});

test("what one key is refused does not use up what the others have", () => {
  const count = setUp(10);
  const states = Array.from({ length: 1_000 }, () => count("key 1"));
  expect(states.filter(({ allowed }) => allowed)).toHaveLength(10);
  expect(states.at(-1)).toMatchObject({ limit: 10, remaining: 0 });
  expect(tooManyRequests(states.at(-1)!, 10).message).toBe("More than 10 requests in this minute.");
  for (let n = 0; n < 10; n++) expect(count("key 2").allowed).toBe(true);
});

test("no limit of one key is no limit of all", () => {
  const count = setUp(0);
  for (let n = 0; n < 1_000; n++) expect(count("key 1").allowed).toBe(true);
});

import { expect, test } from "vitest";
import { boundNew } from "./bound-new.ts";
import type { BriefRow } from "./brief-rows.ts";
import { OTHER_ENVIRONMENT, tooManyId } from "./too-many.ts";

const row = (signature: string, { service = "s", environment = "production", type = "error" } = {}) =>
  ({ organization_id: "o", service_id: service, signature_id: signature, environment, type }) as BriefRow;

function bound(rows: BriefRow[], { standing = [] as BriefRow[], room = { signatures: 1, environments: 1 }, known = ["known"] } = {}) {
  const changes = boundNew({
    rows,
    standing,
    isKnownSignature: (id) => known.includes(id),
    isKnownEnvironment: (_organization, environment) => environment === "production",
    roomOf: () => room,
  });
  return rows.map((each) => changes.get(each) ?? null);
}

test("past a service's room new signatures become the one of what is too many; known ones and other services go on", () => {
  const rows = [row("a"), row("b"), row("known"), row("a"), row("c", { service: "t" }), row("vital", { type: "vital", environment: "x" })];
  expect(bound(rows)).toEqual([null, { signature_id: tooManyId("s") }, null, null, null, null]);
});

test("what is new in rows that stand is made in any case and takes its room", () => {
  const standing = [row("a"), row("b", { environment: "x" }), row(tooManyId("s"))];
  expect(bound([row("a"), row("b", { environment: "y" }), row("c")], { standing, room: { signatures: 2, environments: 1 } })).toEqual([
    null,
    { environment: OTHER_ENVIRONMENT },
    { signature_id: tooManyId("s") },
  ]);
});

test("past the room of environments events are in the one of all others, which takes no room itself", () => {
  const rows = ["x", "other", "y", "x", "production"].map((environment) => row("known", { environment }));
  expect(bound(rows)).toEqual([null, null, { environment: OTHER_ENVIRONMENT }, null, null]);
});

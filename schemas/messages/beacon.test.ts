import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BeaconBody, BeaconEnvelope, BeaconEventBody, momentOf, readBeacon } from "./beacon.ts";

const read = (events: unknown[], rest: object = {}) => readBeacon({ key: "bpk_x", events, ...rest });
const anError = { type: "error", message: "no" };

describe("readBeacon", () => {
  it("names each bad event with its place and keeps its neighbours", () => {
    const bad: [unknown, string][] = [
      [null, ""], [[], ""], ["x", ""], [{}, "/type"], [{ type: "crash" }, "/type"], [{ type: "error" }, "/message"], [{ type: "error", message: 7 }, "/message"],
      [{ type: "error", error_type: "" }, "/message"], [{ type: "message", message: "" }, "/message"], [{ type: "vital", value: 1 }, "/name"], [{ type: "vital", name: "LCP" }, "/value"],
      [{ type: "vital", name: "LCP", value: "1" }, "/value"], [{ type: "vital", name: "LCP", value: JSON.parse("1e999") }, "/value"], [{ ...anError, event_id: "7" }, "/event_id"],
      [{ ...anError, timestamp: "yesterday" }, "/timestamp"], [{ ...anError, timestamp: "2026-13-01T00:00:00Z" }, "/timestamp"], [{ ...anError, stack: {} }, "/stack"], [{ ...anError, handled: "no" }, "/handled"],
      [{ ...anError, fingerprint: "a" }, "/fingerprint"], [{ ...anError, fingerprint: ["a", 1] }, "/fingerprint/1"], [{ ...anError, causes: [{}, 1] }, "/causes/1"], [{ ...anError, causes: [{ stack: 1 }] }, "/causes/0/stack"],
      [{ ...anError, tags: [] }, "/tags"], [{ ...anError, tags: { "a/b~c": {} } }, "/tags/a~1b~0c"], [{ ...anError, breadcrumbs: {} }, "/breadcrumbs"], [{ ...anError, debug_ids: { x: 1 } }, "/debug_ids/x"],
    ];
    const reading = read([anError, ...bad.map(([event]) => event), anError]);
    if (reading.kind !== "read") throw new Error(reading.error);
    expect(reading.events.map(({ index }) => index)).toEqual([0, bad.length + 1]);
    expect(reading.rejected.map(({ index, path }) => [index, path])).toEqual(bad.map(([, path], at) => [at + 1, `/events/${at + 1}${path}`]));
    for (const { error } of reading.rejected) expect(error).toMatch(/^.+\.$/);
  });

  it("refuses a bad envelope as a whole", () => {
    const faults: [unknown, string][] = [
      [null, ""], [[], ""], ["{}", ""], [{ key: "k" }, "/events"], [{ key: "k", events: [] }, "/events"], [{ key: "k", events: Array.from({ length: 101 }, () => anError) }, "/events"],
      [{ events: [anError] }, "/key"], [{ key: 7, events: [anError] }, "/key"], [{ key: "k", release: 1, events: [anError] }, "/release"], [{ key: "k", user: "me", events: [anError] }, "/user"], [{ key: "k", user: { id: [] }, events: [anError] }, "/user/id"],
    ];
    for (const [body, path] of faults) expect(readBeacon(body)).toMatchObject({ kind: "invalid", path });
    expect(read(Array.from({ length: 100 }, () => anError))).toMatchObject({ kind: "read", events: { length: 100 } });
  });

  it("ignores fields that it does not know, takes null for absent and any length", () => {
    const long = "x".repeat(200_000);
    const event = { ...anError, message: long, stack: null, tags: { [long]: long, n: 1, b: true, z: null }, timestamp: null, event_id: null, later: { any: 1 } };
    expect(read([event, { type: "error", error_type: "TypeError" }, { type: "error", message: "" }], { release: null, user: null, newer: 1, environment: "qa" })).toMatchObject({ kind: "read", events: { length: 3 }, rejected: [] });
  });

  it("reads moments in UTC, whatever the process's time zone", () => {
    const noon = Date.UTC(2026, 0, 31, 12);
    for (const text of ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z", "2026-01-31 12:00:00", "2026-01-31T12:00", "2026-01-31T13:00:00+01:00", "2026-01-31T12:00:00.000000"]) expect(momentOf(text), text).toBe(noon);
    expect(momentOf("2026-01-31")).toBe(Date.UTC(2026, 0, 31));
    expect(momentOf(noon)).toBe(noon);
    for (const bad of ["", "Jan 1 2026", "2026-02-30T99:00:00Z", "1", Infinity, Number.NaN, 9e15, true, {}]) expect(momentOf(bad), JSON.stringify(bad)).toBeNull();
  });

  const text = fc.oneof(fc.string(), fc.constant(null), fc.constant(7), fc.constant(""), fc.constant(undefined));
  const odd = fc.oneof(fc.jsonValue(), fc.constant(undefined));
  const mostly = (usual: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
  const causes = fc.array(fc.record({ error_type: text, message: text, stack: text }, { requiredKeys: [] }), { maxLength: 3 });
  const event = fc.record(
    {
      type: mostly(fc.constantFrom("error", "message", "vital")), message: mostly(fc.string()), error_type: mostly(fc.string()), stack: mostly(fc.string()), url: text, level: text,
      event_id: mostly(fc.uuid()), timestamp: mostly(fc.oneof(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()), fc.integer())), handled: mostly(fc.boolean()),
      fingerprint: mostly(fc.array(fc.string())), causes: mostly(causes), breadcrumbs: mostly(fc.array(fc.jsonValue())), name: mostly(fc.string()), value: mostly(fc.double()),
      tags: mostly(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)))), debug_ids: mostly(fc.dictionary(fc.string(), fc.string())),
    },
    { requiredKeys: ["type"] },
  );
  const envelope = fc.record(
    { key: mostly(fc.string()), release: text, environment: text, session_id: text, user: mostly(fc.record({ id: text }, { requiredKeys: [] })), sdk: odd, events: mostly(fc.array(mostly(event), { maxLength: 6 })) },
    { requiredKeys: ["key", "events"] },
  );

  it("agrees with the description of the API, event by event", () => {
    fc.assert(
      fc.property(mostly(envelope), (given) => {
        // As it arrives: `undefined` does not travel.
        const body: unknown = JSON.parse(JSON.stringify(given ?? null));
        const reading = readBeacon(body);
        const described = BeaconEnvelope.safeParse(body);
        expect(reading.kind === "read").toBe(described.success);
        if (reading.kind !== "read") return;
        const taken = new Set(reading.events.map(({ index }) => index));
        reading.beacon.events.forEach((each, index) => expect(BeaconEventBody.safeParse(each).success, JSON.stringify(each)).toBe(taken.has(index)));
        expect(BeaconBody.safeParse(body).success).toBe(reading.rejected.length === 0);
      }),
      { numRuns: 2_000 },
    );
  });
});

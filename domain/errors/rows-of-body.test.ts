import { describe, expect, it } from "vitest";
import { NIL_SIGNATURE } from "../../schemas/messages/beacon-event-row.ts";
import { framesOf, groupingPartsOf } from "./left-out.ts";
import { rowsOfBody } from "./rows-of-body.ts";

const RECEIVED = Date.UTC(2026, 0, 31, 12, 0, 0, 250);
const entry = (body: unknown) => ({
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  receivedAt: RECEIVED,
  organizationId: "00000000-0000-4000-8000-000000000001",
  serviceId: "00000000-0000-4000-8000-000000000002",
});
const place = { logId: "log", partition: 3, offset: 2n ** 60n, edgeId: "00000000-0000-4000-8000-000000000003", sequence: 9n, entryIndex: 1, firstIndex: 40 };
const rows = (...events: object[]) => rowsOfBody(entry({ key: "bpk_x", events }), place);
const only = (event: object) => rows(event)[0]!;
const anError = { type: "error", error_type: "TypeError", message: "x is undefined", stack: "TypeError: x is undefined\n    at pay (https://x.io/app.js:3:5)\n    at Array.map (<anonymous>)" };

describe("rowsOfBody", () => {
  it("gives the same rows for the same entry, and other ids at another place", () => {
    const body = entry({ key: "bpk_x", session_id: "s", events: [anError, { type: "message", message: "hello" }] });
    expect(rowsOfBody(body, place)).toEqual(rowsOfBody(body, place));
    const [here, there] = [rowsOfBody(body, place), rowsOfBody(body, { ...place, entryIndex: 2 })];
    expect(here.map(({ signature_id }) => signature_id)).toEqual(there.map(({ signature_id }) => signature_id));
    expect(new Set([...here, ...there].map(({ event_id }) => event_id)).size).toBe(4);
  });

  it("fills every column of an error", () => {
    const body = { key: "bpk_x", release: "1.2", session_id: "s1", user: { id: 7 }, sdk: { name: "web", version: "3" }, events: [{ ...anError, event_id: "0F8FAD5B-D9CB-469F-A165-70867728950E", timestamp: RECEIVED - 1_000, tags: { a: 1 }, url: "https://x.io/", breadcrumbs: [{ a: 1 }] }] };
    const [row] = rowsOfBody(entry(body), place);
    expect(row).toMatchObject({
      log_id: "log", partition: 3, offset: "1152921504606846976", index: 40, event_id: "0f8fad5b-d9cb-469f-a165-70867728950e", event_id_given: true, type: "error",
      received_at: "2026-01-31 12:00:00.250", occurred_at: "2026-01-31 11:59:59.250", session_id: "s1", user_id: "7", release: "1.2", environment: "production", grouping_version: "v2",
      error_type: "TypeError", culprit: "pay (/app.js)", category: "javascript", handled: false, level: "error", tags: { a: "1" }, sdk: "web/3", breadcrumbs: '[{"a":1}]', truncated: false,
    });
    expect(framesOf(row!)).toEqual([
      { function: "pay", file: "https://x.io/app.js", line: 3, column: 5, in_app: true, original: null, unmapped_reason: "no_map_for_url" },
      { function: "Array.map", file: null, line: null, column: null, in_app: false, original: null, unmapped_reason: "not_applicable" },
    ]);
    expect(framesOf(only(anError))[0]!.unmapped_reason).toBe("no_release");
  });

  it("leaves out what follows from the stack, and nothing that does not", () => {
    const plain = only(anError);
    expect([plain.frames, plain.grouping_parts]).toEqual(["", ""]);
    expect(groupingPartsOf(plain)).toEqual([{ kind: "type", value: "TypeError" }, { kind: "frame", value: "pay in /app.js" }]);
    const custom = only({ ...anError, fingerprint: ["checkout"] });
    expect([custom.frames, groupingPartsOf(custom)]).toEqual(["", [{ kind: "custom", value: "checkout" }]]);
    // Cut in its middle, a stack does not tell its outermost frames any more.
    const line = (at: number) => `f${at}@https://x.io/${"a".repeat(900)}.js:1:${at + 1}`;
    const cut = only({ ...anError, stack: Array.from({ length: 100 }, (_, at) => line(at)).join("\n") });
    expect([cut.frames === "", cut.grouping_parts === "", framesOf(cut).length, framesOf(cut).at(-1)!.function, groupingPartsOf(cut).length]).toEqual([false, false, 100, "f99", 9]);
  });

  it("numbers rows without a gap where an event was rejected", () => {
    expect(rows(anError, { type: "error" }, anError).map(({ index }) => index)).toEqual([40, 41]);
  });

  it("gives vitals no signature", () => {
    expect(only({ type: "vital", name: "LCP", value: 1234.5 })).toMatchObject({ signature_id: NIL_SIGNATURE, name: "LCP", value: 1234.5, category: "", frames: "" });
  });

  it("believes a client's clock within a day back and five minutes ahead", () => {
    const occurred = (timestamp: unknown) => only({ ...anError, timestamp }).occurred_at;
    expect(occurred("2026-01-30T12:00:00.250Z")).toBe("2026-01-30 12:00:00.250");
    expect(occurred("2026-01-31T12:05:00.250Z")).toBe("2026-01-31 12:05:00.250");
    for (const wrong of ["2026-01-30T12:00:00.249Z", "2026-01-31T12:05:00.251Z", 0, 4e12]) expect(occurred(wrong)).toBe("2026-01-31 12:00:00.250");
  });

  it("cuts what is too long and says so", () => {
    const long = only({ ...anError, message: "é".repeat(5_000) });
    expect([Buffer.byteLength(long.message), long.truncated]).toEqual([8_192, true]);
    const tags = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`t${at}`, "x"]));
    expect([Object.keys(only({ ...anError, tags }).tags).length, only({ ...anError, tags }).truncated]).toEqual([64, true]);
    expect(only({ ...anError, tags: { a: "🙂".repeat(201) } })).toMatchObject({ tags: { a: "🙂".repeat(200) }, truncated: true });
    expect(only({ ...anError, tags: { a: "🙂".repeat(200) } })).toMatchObject({ tags: { a: "🙂".repeat(200) }, truncated: false });
    const crumbs = only({ ...anError, breadcrumbs: Array.from({ length: 101 }, (_, at) => at) });
    expect([(JSON.parse(crumbs.breadcrumbs) as number[]).at(0), crumbs.truncated]).toEqual([1, true]);
    const deep = only({ ...anError, stack: Array.from({ length: 150 }, (_, at) => `f${at}@https://x.io/a.js:1:1`).join("\n") });
    expect([framesOf(deep).length, deep.truncated]).toEqual([100, true]);
  });

  it("replaces what the stores cannot hold", () => {
    const row = only({ ...anError, message: "a\u0000b\ud800c🙂", tags: { ["__proto__"]: "x", "k\u0000": "\udc00" } });
    expect(row.message).toBe("a\ufffdb\ufffdc🙂");
    expect(Object.entries(row.tags)).toContainEqual(["k\ufffd", "\ufffd"]);
  });

  it("takes the type from the message or the stack when none is given", () => {
    const type = (event: object) => only({ type: "error", message: "", ...event }).error_type;
    expect(type({ message: "Uncaught TypeError: x" })).toBe("TypeError");
    expect(type({ message: "Uncaught (in promise) RangeError: x" })).toBe("RangeError");
    expect(type({ message: "x", stack: "SyntaxError: x\n    at a (https://x.io/a.js:1:1)" })).toBe("SyntaxError");
    expect(type({ message: "x" })).toBe("Error");
  });

  it("gives no rows for bytes that the edge would not have taken", () => {
    for (const body of ["", "{", "[]", "\ufeff{}", '{"key":"k","events":[]}']) expect(rowsOfBody(entry(body), place)).toEqual([]);
  });
});

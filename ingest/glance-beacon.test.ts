import { expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { readBeacon } from "../schemas/messages/beacon.ts";
import { readJson } from "../schemas/messages/read-json.ts";
import { glanceBeacon } from "./glance-beacon.ts";
import { partitionKeyOf } from "./partition-key.ts";

const event = { type: "error", event_id: newId(), timestamp: "2026-02-28T23:59:59.999Z", error_type: "TypeError", message: 'a "b"\n\\u', stack: "at x\n  at y", url: "https://a.example/?q=1", handled: false, level: "error" };
const beacon = { key: "bpk_0123", release: "1.2.3", environment: "production", session_id: "s-1", user: { id: "u-1" }, sdk: { name: "web", version: [1, -0.5e3, null, true] }, events: [event] };

/** By the long way, which has the last word: what the edge would answer and where it would put the body. */
function readLong(bytes: Uint8Array): unknown {
  const reading = readBeacon(readJson(bytes));
  if (reading.kind === "invalid" || reading.rejected.length > 0) return null;
  return { key: reading.beacon.key, partitionKey: partitionKeyOf(reading), events: reading.events.length };
}

const { session_id: _session, ...withoutSession } = beacon;
const { event_id: _id, ...eventWithoutId } = event;
const withEvent = (changes: object): object => ({ ...beacon, events: [{ ...event, ...changes }] });

test.each<[string, unknown]>([
  ["the usual", beacon],
  ["no session: the first event's id", { ...withoutSession, events: [event, { type: "message", message: "hi", breadcrumbs: [{ at: 1 }, []] }] }],
  ["no session, and the first events without an id", { ...withoutSession, events: [eventWithoutId, eventWithoutId, event, { ...event, event_id: newId() }] }],
  ["a session after events with ids", { ...withoutSession, session_id: "s-2" }],
  ["neither", { key: "k", events: [{ type: "message", message: "Grüße 🎉" }] }],
  ["fields nobody knows", { ...beacon, extra: { a: [[], {}, ""], b: { c: null } }, events: [{ ...event, release: { x: 1 } }] }],
  ["a hundred events", { ...beacon, events: Array.from({ length: 100 }, () => event) }],
])("passes what is ordinary, as the long way reads it: %s", (_name, body) => {
  for (const text of [JSON.stringify(body), ` ${JSON.stringify(body, null, 2)}\r\n`]) {
    const bytes = Buffer.from(text);
    expect(glanceBeacon(bytes)).toEqual(readLong(bytes));
    expect(glanceBeacon(bytes)).not.toBeNull();
  }
});

test.each<[string, string]>([
  ["a second key", '{"key":"a","key":"b","events":[{"type":"message","message":"m"}]}'],
  ["a name with an escape", '{"key":"a","\\u006bey":"b","events":[{"type":"message","message":"m"}]}'],
  ["a second type", '{"key":"a","events":[{"type":"error","message":"m","type":"nothing"}]}'],
  ["a key with an escape", '{"key":"\\u0061","events":[{"type":"message","message":"m"}]}'],
  ["a byte order mark", `\uFEFF${JSON.stringify(beacon)}`],
  ["101 events", JSON.stringify({ ...beacon, events: Array.from({ length: 101 }, () => event) })],
  ["no events", JSON.stringify({ ...beacon, events: [] })],
  ["a day that is none", JSON.stringify(withEvent({ timestamp: "2026-02-30T00:00:00.000Z" }))],
  ["an id that is none", JSON.stringify(withEvent({ event_id: "0123" }))],
  ["no message", JSON.stringify(withEvent({ message: undefined }))],
  ["an empty message", JSON.stringify(withEvent({ message: "" }))],
  ["a number for a text", JSON.stringify(withEvent({ stack: 1 }))],
  ["a nothing for a text", JSON.stringify({ ...beacon, session_id: null })],
  ["tags", JSON.stringify(withEvent({ tags: { a: {} } }))],
  ["a list", "[]"],
  ["nothing", ""],
])("leaves to the long way: %s", (_name, text) => {
  expect(glanceBeacon(Buffer.from(text))).toBeNull();
});

test("bytes that are no UTF-8 are left to the long way", () => {
  const bytes = Buffer.from(JSON.stringify(withEvent({ message: "abc" })));
  bytes[bytes.indexOf("abc")] = 0xff;
  expect(glanceBeacon(bytes)).toBeNull();
});

test("no body passes that the long way refuses or reads otherwise: each byte of one left out, doubled or replaced", () => {
  const odd = { ...beacon, sdk: { n: [-1.5e-7, 0, true, false, null], s: '\\ / \b é "' } };
  const good = Buffer.from(JSON.stringify(odd));
  const replacements = [...Buffer.from('"\\{}[],:0-.eE+utn /x\0\n'), 0x80, 0xc3];
  let passed = 0;
  for (let at = 0; at < good.length; at++) {
    const before = good.subarray(0, at);
    const after = good.subarray(at + 1);
    const bodies = [Buffer.concat([before, after]), Buffer.concat([before, good.subarray(at, at + 1), good.subarray(at)]), Buffer.from(before), ...replacements.map((byte) => Buffer.concat([before, Buffer.from([byte]), after]))];
    for (const body of bodies) {
      const glance = glanceBeacon(body);
      if (glance === null) continue;
      passed += 1;
      // readJson throws for what is no JSON: the test fails then, too.
      expect(readLong(body), body.toString()).toEqual(glance);
    }
  }
  expect(passed).toBeGreaterThan(1_000);
});

const ids = Array.from({ length: 3 }, () => newId());
const message = { type: "message", message: "m" };

test.each<[string, string, object]>([
  ["the session", "s", { session_id: "s", events: [{ ...message, event_id: ids[0] }] }],
  ["the session, after the events", "s", { events: [{ ...message, event_id: ids[0] }], session_id: "s" }],
  ["the first event's id", ids[0]!, { events: [{ ...message, event_id: ids[0] }, { ...message, event_id: ids[1] }] }],
  ["the first id of any event", ids[1]!, { events: [message, message, { ...message, event_id: ids[1] }, { ...message, event_id: ids[2] }] }],
  ["an id in large letters as it is", ids[2]!.toUpperCase(), { events: [message, { ...message, event_id: ids[2]!.toUpperCase() }] }],
  ["nothing", "", { events: [message, message] }],
  ["an empty session as none", ids[0]!, { session_id: "", events: [message, { ...message, event_id: ids[0] }] }],
  ["an absent id as none", ids[1]!, { session_id: null, events: [{ ...message, event_id: null }, { ...message, event_id: ids[1] }] }],
  ["no id of an event that is rejected", ids[1]!, { events: [{ type: "message", event_id: ids[0] }, { ...message, event_id: ids[1] }] }],
])("a retry meets its partition by %s, whichever way the body is read", (_name, partitionKey, body) => {
  const bytes = Buffer.from(JSON.stringify({ key: "k", ...body }));
  const reading = readBeacon(readJson(bytes));
  if (reading.kind === "invalid") throw new Error(reading.error);
  expect(partitionKeyOf(reading)).toBe(partitionKey);
  expect([undefined, partitionKey]).toContain(glanceBeacon(bytes)?.partitionKey);
});

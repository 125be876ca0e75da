import { times, waysOf } from "./way.ts";

const BEACON = "/api/beacon";
const error = (more: object = {}) => ({ type: "error", error_type: "Error", message: "hostile", ...more });

export const INGEST_WAYS = waysOf("beacons, pushes and pings", "free", [
  ["a beacon of more than 256 KiB", /^413 /, ({ send, beacon_key: key }) => send(BEACON, { key, events: [error({ message: "x".repeat(300_000) })] })],
  ["a thousand events in a beacon", /^(202|400) /, ({ send, beacon_key: key }) => send(BEACON, { key, events: Array.from({ length: 1_000 }, (_, n) => error({ message: `m${n}` })) })],
  ["events of unknown types", /^400 /, ({ send, beacon_key: key }) => send(BEACON, { key, events: [{ type: "__proto__" }] })],
  ["a stack of ten thousand frames", /^(202|400) /, ({ send, beacon_key: key }) => send(BEACON, { key, events: [error({ stack: Array.from({ length: 5_000 }, (_, n) => `    at f${n} (https://x.example/a.js:${n}:1)`).join("\n") })] })],
  ["a stack made against regular expressions", /^(202|400) /, ({ send, beacon_key: key }) => send(BEACON, { key, events: ["(", "at ", "@", "eval ", "a(a(a(", "    at    ", "\t\t\t", "http://"].map((each) => error({ stack: each.repeat(Math.floor(25_000 / each.length)) })) })],
  ["messages made against grouping", /^(202|400) /, ({ send, beacon_key: key }) => send(BEACON, { key, events: ["0", "0x", "a-", "1.", "//", "f".repeat(8), '"', "[["].map((each) => error({ message: each.repeat(Math.floor(25_000 / each.length)) })) })],
  ["thousands of tags and breadcrumbs", /^(202|400) /, ({ send, beacon_key: key }) => send(BEACON, { key, events: [error({ tags: Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`t${n}`, "v"])), breadcrumbs: Array.from({ length: 2_000 }, () => ({ message: "x" })) })] })],
  ["half of characters", /^(202|400) /, ({ send, beacon_key: key }) => send(BEACON, `{"key":"${key}","events":[{"type":"error","error_type":"Error","message":"\\ud800\\u0000\\udfff"}]}`)],
  ["a release of every event", /^(202|400) /, ({ send, beacon_key: key }) => times(20, (n) => send(BEACON, { key, release: `r${n}`, environment: `e${n}`, events: [error()] }))],
  ["two thousand beacons with keys that nobody knows", /^(401|429|503) /, ({ send }) => times(2_000, (n) => send(BEACON, { key: `bpk_${String(n).padStart(24, "0")}`, events: [error()] }))],
  ["the key of another in the address", /^(202|401|400) /, ({ send, beacon_key: key }) => send(`${BEACON}?key=bpk_x`, { key, events: [error()] })],
  ["a push of more than 64 KiB", /^413 /, ({ send, service_id: id }) => send("/api/metrics/ingest", { service_id: id, metrics: Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`metric_${n}`, 1])) })],
  ["a push of two thousand metrics", /^(200|202|400) /, ({ send, service_id: id }) => send("/api/metrics/ingest", { service_id: id, metrics: Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`m_${n}`, n])) })],
  ["numbers that are none", /^400 /, ({ send, service_id: id }) => send("/api/metrics/ingest", `{"service_id":"${id}","metrics":{"a":1e999}}`)],
  ["a push for another's service", /^(403|404) /, ({ send }) => send("/api/metrics/ingest", { service_id: "5c1f8f6e-1111-4222-8333-444455556666", metrics: { a: 1 } })],
  ["a ping of more than 10 KiB", /^413 /, ({ send }) => send("/api/heartbeat/nothing", { status: "ok", message: "x".repeat(11_000) })],
  ["pings of monitors that are not there, five hundred at once", /^(404|429) /, ({ send }) => times(500, (n) => send(`/api/heartbeat/none-${n}`, "{}"))],
]);

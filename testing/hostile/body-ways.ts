import { gzipSync } from "node:zlib";
import { waysOf } from "./way.ts";

const MiB = 1_048_576;
const PACKED = { "content-encoding": "gzip" };
const deep = (depth: number) => `{"name":${"[".repeat(depth)}${"]".repeat(depth)}}`;

export const BODY_WAYS = waysOf("bodies", "free", [
  ["a JSON body of more than 1 MiB", /^413 .*PAYLOAD_TOO_LARGE/, ({ call }) => call("POST", "/services", { name: "x".repeat(MiB) })],
  ["a gzip bomb: 200 KB that become 200 MB", /^413 .*PAYLOAD_TOO_LARGE/, ({ call }) => call("POST", "/services", gzipSync(Buffer.alloc(200 * MiB, 32)), PACKED)],
  ["a gzip bomb for the edge", /^413 .*PAYLOAD_TOO_LARGE/, ({ send, beacon_key: key }) => send("/api/beacon", gzipSync(Buffer.alloc(100 * MiB, 32)), { ...PACKED, "x-beacon-key": key })],
  ["gzip that is none", /^400 .*INVALID_REQUEST/, ({ call }) => call("POST", "/services", Buffer.from("no gzip at all"), PACKED)],
  ["an encoding that nobody knows", /^415 .*UNSUPPORTED_MEDIA_TYPE/, ({ call }) => call("POST", "/services", "{}", { "content-encoding": "br, br, zstd" })],
  ["an empty body", /^400 .*INVALID_JSON/, ({ call }) => call("POST", "/services", "")],
  ["half a body", /^400 .*INVALID_JSON/, ({ call }) => call("POST", "/services", '{"name": "x')],
  ["a hundred thousand brackets", /^400 /, ({ call }) => call("POST", "/services", deep(100_000))],
  ["a hundred thousand brackets for the edge", /^400 /, ({ send, beacon_key: key }) => send("/api/beacon", `{"key":"${key}","events":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)],
  ["a field called __proto__", /^400 .*INVALID_REQUEST/, ({ call }) => call("POST", "/services", '{"name": "x", "__proto__": {"isAdmin": true}}')],
  ["fifty thousand unknown fields", /^400 .*INVALID_REQUEST/, ({ call }) => call("POST", "/services", Object.fromEntries([["name", "x"], ...Array.from({ length: 50_000 }, (_, n) => [`f${n}`, 1])]))],
  ["bytes that are no UTF-8", /^400 /, ({ call }) => call("POST", "/services", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))],
  ["a NUL in a name", /^400 .*INVALID_REQUEST/, ({ call }) => call("POST", "/services", '{"name": "a\\u0000b"}')],
  ["a name of 256 characters", /^400 .*INVALID_REQUEST/, ({ call }) => call("POST", "/services", { name: "x".repeat(256) })],
  ["a number beyond all numbers", /^400 /, ({ call }) => call("POST", "/services", '{"name": "x", "display_order": 1e999}')],
  ["a body of another type", /^415 .*UNSUPPORTED_MEDIA_TYPE/, ({ call }) => call("POST", "/services", "<name>x</name>", { "content-type": "text/xml" })],
]);

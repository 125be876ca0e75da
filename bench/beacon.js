// k6 script: one beacon after the other over some connections, each beside the same body to a bare server; bench/run-k6.ts starts both. By hand:
//   k6 run -e BASE=http://127.0.0.1:8081 -e BARE=http://127.0.0.1:9000 -e BEACON_KEY=bpk_… bench/beacon.js
// The threshold is a ratio: in half of the pairs the edge may take at most MOST_TIMES as long as the bare server just did.
import { pairedOptions, pairedSummary, runPair } from "./paired.js";

const { BEACON_KEY = "none" } = __ENV;

export const options = pairedOptions("beacon");
export const handleSummary = pairedSummary("beacon");

const frames = [48211, 50377, 61002].map((column) => `    at renderCart (https://shop.example/assets/app-4f2a91c7.js:1:${column})`).join("\n");

const hex = (digits) => Math.trunc(Math.random() * 16 ** digits).toString(16).padStart(digits, "0");
const randomId = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;

export function beacon() {
  const stack = `TypeError: Cannot read properties of undefined (reading 'total')\n${frames}`;
  const event = { event_id: randomId(), type: "error", error_type: "TypeError", message: "Cannot read properties of undefined (reading 'total')", stack, url: `https://shop.example/cart?step=${__ITER % 7}`, handled: false, level: "error" };
  const body = { key: BEACON_KEY, release: "2026.11.3", environment: "production", session_id: `s-${__VU}-${__ITER % 500}`, events: [event] };
  runPair({ path: "/api/beacon", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), status: 202 });
}

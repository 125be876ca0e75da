// k6 script: one ping after the other, each beside a bare server's answer; see bench/beacon.js. By hand:
//   k6 run -e BASE=http://127.0.0.1:8081 -e BARE=http://127.0.0.1:9000 -e API_KEY=psk_… -e MONITORS=2000 bench/heartbeat.js
import { pairedOptions, pairedSummary, runPair } from "./paired.js";

const { API_KEY = "none" } = __ENV;
const MONITORS = Number(__ENV.MONITORS || 1);

export const options = pairedOptions("heartbeat");
export const handleSummary = pairedSummary("heartbeat");

export function heartbeat() {
  runPair({ path: `/api/heartbeat/job-${(__VU * 7919 + __ITER) % MONITORS}`, headers: { "X-API-Key": API_KEY }, body: null, status: 200 });
}

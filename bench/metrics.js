// k6 script: one push of metrics after the other, answered with its evaluation, each beside a bare server's answer; see bench/beacon.js. By hand:
//   k6 run -e BASE=http://127.0.0.1:8081 -e BARE=http://127.0.0.1:9000 -e API_KEY=psk_… -e SERVICES=id,id bench/metrics.js
import { pairedOptions, pairedSummary, runPair } from "./paired.js";

const { API_KEY = "none" } = __ENV;
const services = (__ENV.SERVICES || "none").split(",");

export const options = pairedOptions("metrics");
export const handleSummary = pairedSummary("metrics");

export function metrics() {
  const service = services[(__VU * 31 + __ITER) % services.length];
  const body = JSON.stringify({ service_id: service, metrics: { error_rate: (__ITER % 9) / 10, response_time_ms: 100 + (__ITER % 700), cpu_percent: __ITER % 60 } });
  runPair({ path: "/api/metrics/ingest", headers: { "Content-Type": "application/json", "X-API-Key": API_KEY }, body, status: 200 });
}

// k6 script: one way of loading one address, chosen by the environment, for bench/run-api.ts. By hand:
//   k6 run -e BASE=http://127.0.0.1:8080 -e API_KEY=psk_… -e WORK=incidents -e MODE=latency bench/api.js
// MODE latency: RATE requests a second (1,000), p99 ≤ 10 ms. MODE throughput: as many as go through; the ratio to the
// bare server is judged by run-api.ts, which runs both in turns.
import http from "k6/http";
import { check } from "k6";

const { BASE, API_KEY = "none", WORK = "services", MODE = "latency", SERVICE } = __ENV;
const DURATION = __ENV.DURATION || "20s";
const RATE = Number(__ENV.RATE || 1000);

const WORKS = {
  services: { method: "GET", path: "/api/v1/services", status: 200 },
  incidents: { method: "GET", path: "/api/v1/incidents?limit=50", status: 200 },
  // As a browser asks for it.
  page: { method: "GET", path: "/pages/demo", status: 200, headers: { "Accept-Encoding": "gzip, deflate, br" } },
  create: { method: "POST", path: "/api/v1/incidents", status: 201, body: JSON.stringify({ title: "Load", message: "Made by a benchmark.", ...(SERVICE && { services: [SERVICE] }) }) },
};
const work = WORKS[WORK];

const scenarios = {
  latency: { exec: "load", executor: "constant-arrival-rate", rate: RATE, timeUnit: "1s", duration: DURATION, preAllocatedVUs: 50, maxVUs: 200 },
  throughput: { exec: "load", executor: "constant-vus", vus: 16, duration: DURATION },
};

const thresholds = { checks: ["rate==1"] };
if (MODE === "latency") {
  thresholds.http_req_duration = ["p(99)<=10"];
  // Requests that could not be sent in time would otherwise be missing from the figure.
  thresholds.dropped_iterations = ["count==0"];
}

export const options = {
  scenarios: { [WORK]: scenarios[MODE] },
  thresholds,
  discardResponseBodies: true,
  summaryTrendStats: ["med", "p(99)", "max"],
};

export function load() {
  const response = http.request(work.method, `${BASE}${work.path}`, work.body || null, { headers: work.headers || { "X-API-Key": API_KEY, "Content-Type": "application/json" } });
  check(response, { "the right status": ({ status }) => status === work.status });
}

export function handleSummary({ metrics }) {
  const figures = {
    work: WORK,
    mode: MODE,
    requests: metrics.http_reqs.values.count,
    perSecond: metrics.http_reqs.values.rate,
    p50: metrics.http_req_duration.values.med,
    firstByteP99: metrics.http_req_waiting.values["p(99)"],
    p99: metrics.http_req_duration.values["p(99)"],
    failed: metrics.checks.values.fails,
    dropped: metrics.dropped_iterations ? metrics.dropped_iterations.values.count : 0,
  };
  return { stdout: `${JSON.stringify(figures)}\n` };
}

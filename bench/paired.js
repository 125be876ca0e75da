// What the k6 scripts of the ingest endpoints share: each iteration asks the bare server, then the edge, and compares the two.
import http from "k6/http";
import { Rate, Trend } from "k6/metrics";

const { BASE, BARE } = __ENV;
/** How many times as long as the bare server the edge may take. */
const MOST_TIMES = Number(__ENV.MOST_TIMES || 10);

const within = new Rate("within_ratio");
const taken = new Rate("taken");
const ours = new Trend("ours", true);
const bare = new Trend("bare", true);
const ratio = new Trend("ratio");

export function pairedOptions(exec) {
  return {
    scenarios: { pairs: { exec, executor: "constant-vus", vus: Number(__ENV.VUS || 16), duration: __ENV.DURATION || "10s" } },
    discardResponseBodies: true,
    // "At most so many times in half of the pairs" is the median of the ratios.
    thresholds: { within_ratio: ["rate>=0.5"], taken: ["rate==1"] },
    summaryTrendStats: ["med", "p(99)", "max"],
  };
}

export function runPair({ path, headers, body, status }) {
  const reference = http.post(`${BARE}${path}`, body, { headers });
  const response = http.post(`${BASE}${path}`, body, { headers });
  const times = response.timings.duration / reference.timings.duration;
  taken.add(response.status === status);
  ours.add(response.timings.duration);
  bare.add(reference.timings.duration);
  ratio.add(times);
  within.add(times <= MOST_TIMES);
}

export function pairedSummary(work) {
  return ({ metrics }) => {
    const { values } = metrics.ratio;
    const figures = { work, pairs: metrics.iterations.values.count, p50: metrics.ours.values.med, p99: metrics.ours.values["p(99)"], bareP50: metrics.bare.values.med, bareP99: metrics.bare.values["p(99)"], ratio: values.med, mostTimes: MOST_TIMES, taken: metrics.taken.values.rate };
    return { stdout: `${JSON.stringify(figures)}\n` };
  };
}

import { appendFileSync } from "node:fs";

/** What a figure has to reach. */
interface Goal {
  /** Its row in the table of goals. */
  row: number;
  work: string;
  unit: string;
  atLeast?: number;
  atMost?: number;
}

/** Every figure that a benchmark is judged by. `bare` is what a bare uWebSockets.js POST of the same body costs in the same run. */
export const GOALS = {
  "edge/beacon": { row: 1, work: "a beacon at an edge, durable in Kafka: share of bare", unit: "%", atLeast: 60 },
  "edge/heartbeat": { row: 2, work: "a ping at an edge: share of bare", unit: "%", atLeast: 67 },
  "produce": { row: 3, work: "encoding and sending to Kafka: times cheaper than kafkajs, an event a record", unit: "×", atLeast: 10 },
  "freshness/p50": { row: 4, work: "beacon to GET /errors at half of saturation, p50", unit: "ms", atMost: 300 },
  "freshness/p99": { row: 4, work: "the same, p99", unit: "ms", atMost: 1_000 },
  "pipeline/bare": { row: 5, work: "an error through the whole pipeline, all servers", unit: "bare", atMost: 6 },
  "pipeline/lag": { row: 5, work: "rounds in which the lag grew", unit: "", atMost: 0 },
  "catch-up": { row: 5, work: "until the lag of a 5-minute outage is gone, at half load", unit: "s", atMost: 300 },
  "hot-signature": { row: 5, work: "10,000 events a second of one signature, two processors: most that wait", unit: "events", atMost: 10_000 },
  "insert/node": { row: 6, work: "a row into ClickHouse, Node's side", unit: "µs", atMost: 2.5 },
  "insert/ratio": { row: 6, work: "times cheaper than JSONEachRow by the client", unit: "×", atLeast: 2 },
  "symbolicate/rate": { row: 7, work: "warm frames a core", unit: "M/s", atLeast: 2 },
  "symbolicate/ratio": { row: 7, work: "times faster than the next best consumer", unit: "×", atLeast: 3 },
  "fingerprint": { row: 8, work: "grouping a parsed stack of 8 frames", unit: "µs", atMost: 2 },
  "thresholds": { row: 8, work: "judging a push", unit: "µs", atMost: 0.1 },
  "hand-over/cpu": { row: 9, work: "an event to a worker and back, in batches of 500", unit: "µs", atMost: 0.3 },
  "hand-over/wait": { row: 9, work: "what it adds", unit: "ms", atMost: 5 },
  "metrics/p50": { row: 10, work: "a push answered with its evaluation through Kafka, p50", unit: "ms", atMost: 30 },
  "metrics/cpu": { row: 10, work: "a push over all servers, 2,000 services", unit: "µs", atMost: 100 },
  "api/services/p99": { row: 11, work: "GET /services at 1,000 a second, p99", unit: "ms", atMost: 10 },
  "api/services/share": { row: 11, work: "GET /services: share of a bare Fastify route", unit: "%", atLeast: 60 },
  "api/incidents/p99": { row: 11, work: "GET /incidents at 1,000 a second, p99", unit: "ms", atMost: 10 },
  "api/incidents/share": { row: 11, work: "GET /incidents: share of a bare Fastify route", unit: "%", atLeast: 60 },
  "api/create/p99": { row: 11, work: "POST /incidents at 500 a second, p99", unit: "ms", atMost: 10 },
  "api/page/share": { row: 12, work: "a public page: share of a bare Fastify route", unit: "%", atLeast: 70 },
  "api/page/p99": { row: 12, work: "its first byte at 1,000 a second, p99", unit: "ms", atMost: 5 },
  "scheduler/checks": { row: 13, work: "checks of one scheduler", unit: "/s", atLeast: 2_000 },
  "scheduler/deliveries": { row: 13, work: "deliveries of one scheduler to one host", unit: "/s", atLeast: 2_000 },
  "small/first-start": { row: 14, work: "first start to ready", unit: "s", atMost: 15 },
  "small/start": { row: 14, work: "start on existing data to ready", unit: "s", atMost: 3 },
  "small/memory": { row: 15, work: "npm start at rest, sum of PSS", unit: "MB", atMost: 450 },
  "memory/loaded": { row: 15, work: "npm start under load, most", unit: "MB", atMost: 1_536 },
  "growth/partitions": { row: 16, work: "an event at 1, 8 and 64 partitions, beside 4", unit: "×", atMost: 1.3 },
  "growth/signatures": { row: 16, work: "an event at 1,000,000 signatures, beside 5,000", unit: "×", atMost: 1.3 },
  "growth/services": { row: 16, work: "a push at 20,000 services, beside 100", unit: "×", atMost: 1.3 },
  "growth/edges": { row: 16, work: "an event at 20 edges, beside 1", unit: "×", atMost: 1.3 },
  "growth/events": { row: 16, work: "an event at 100 million stored ones, beside none", unit: "×", atMost: 1.3 },
  "growth/all": { row: 16, work: "an event with all of that together", unit: "×", atMost: 1.3 },
  "growth/lists": { row: 16, work: "the slowest list at 100 million events, p99", unit: "ms", atMost: 100 },
  "growth/details": { row: 16, work: "the slowest detail, p99, or first byte of an export", unit: "ms", atMost: 100 },
  "small/idle": { row: 17, work: "npm start at rest, all processes", unit: "CPU-ms/s", atMost: 10 },
  "small/error": { row: 17, work: "an error at 4 a second, rest included", unit: "CPU-ms", atMost: 12 },
  "small/visible": { row: 17, work: "the same until it is visible, p99", unit: "ms", atMost: 1_500 },
  "small/check": { row: 18, work: "a check at 500 every 30 s, rest included", unit: "CPU-ms", atMost: 1 },
} as const satisfies Record<string, Goal>;

export type GoalName = keyof typeof GOALS;

/** A figure beside its goal. */
export interface Judged {
  name: GoalName;
  value: number;
  reached: boolean;
}

/** Whether a figure reaches its goal. It is also left for `npm run bench`, which prints all of them as one table. */
export function judge(name: GoalName, value: number): boolean {
  const { atLeast = -Infinity, atMost = Infinity }: Goal = GOALS[name];
  const reached = value >= atLeast && value <= atMost;
  const file = process.env.BENCH_RESULTS;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, value, reached } satisfies Judged)}\n`);
  return reached;
}

/** A goal in words: `≤ 6 bare`. */
export function wanted(name: GoalName): string {
  const { atLeast, atMost, unit }: Goal = GOALS[name];
  return `${atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`} ${unit}`.trim();
}

/** The lines of one table: row, work, goal, what was reached, and that in shares of the goal (above 1 is better). */
export function goalLines(judged: readonly Judged[]): string[][] {
  return judged.map(({ name, value, reached }) => {
    const { row, work, unit, atLeast, atMost }: Goal = GOALS[name];
    const ratio = atLeast === undefined ? atMost! / value : value / atLeast;
    const shown = value.toLocaleString("en", { maximumSignificantDigits: 3 });
    return [String(row), work, wanted(name), `${shown} ${unit}`.trim(), Number.isFinite(ratio) ? ratio.toFixed(2) : "", reached ? "reached" : "missed"];
  });
}

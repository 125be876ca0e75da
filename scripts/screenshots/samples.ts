import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { PRESENT } from "./story.ts";

const STEP_MS = 300_000;
const DAY_MS = 86_400_000;
/** When the open incident began and when it got better, before the present. */
const [WORSE_MS, BETTER_MS] = [96 * 60_000, 38 * 60_000];

/** A day of response times and error rates: quiet at night, busy at noon, and bad during the open incident. */
export async function insertSamples(clickhouse: ClickHouse, organizationId: string, services: ReadonlyMap<string, string>): Promise<void> {
  const chance = makeChance(7);
  const rows: object[] = [];
  const add = (service: string, name: string, at: number, value: number) => {
    const received = new Date(at).toISOString().slice(0, 23).replace("T", " ");
    rows.push({ log_id: "screenshots", partition: 0, offset: String(rows.length), index: 0, organization_id: organizationId, service_id: services.get(service)!, name, value, received_at: received, reported_at: received });
  };
  for (let at = PRESENT - DAY_MS + STEP_MS; at < PRESENT; at += STEP_MS) {
    const hour = new Date(at).getUTCHours() + new Date(at).getUTCMinutes() / 60;
    const busy = 1 + 0.35 * Math.cos(((hour - 13) / 24) * 2 * Math.PI);
    const ago = PRESENT - at;
    const bad = ago > WORSE_MS ? 0 : ago > BETTER_MS ? 1 : 0.25;
    add("API", "response_time_ms", at, 88 * busy * (0.9 + 0.2 * chance()) + 240 * bad);
    add("Checkout", "response_time_ms", at, 210 * busy * (0.85 + 0.3 * chance()) + 1_900 * bad);
    add("Checkout", "error_rate", at, 0.12 + 0.1 * chance() + 6.5 * bad * (0.8 + 0.4 * chance()));
    add("Search", "response_time_ms", at, 42 * busy * (0.9 + 0.2 * chance()));
  }
  await clickhouse.insert("metric_samples", rows, {});
}

/** Numbers from 0 to 1 that are the same at every run (a linear congruential generator). */
function makeChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const AWAY_MS: Record<Form, number> = { short: 8_000, long: 300_000 };
const EVENTS_PER_SECOND: Record<Form, number> = { short: 1_000, long: 5_000 };

/** Fault d: PostgreSQL cannot be reached; the edges go on with what they know, the API says so and recovers by itself. */
export function postgresAway(stage: Stage, form: Form): Promise<FaultResult> {
  return storeAway(stage, form, { fault: "d: PostgreSQL away", away: () => stage.postgres.cut(), back: () => stage.postgres.pass(), apiPath: "/api/v1/services" });
}

/** The same with ClickHouse; what needs no ClickHouse goes on. */
export function clickhouseAway(stage: Stage, form: Form): Promise<FaultResult> {
  return storeAway(stage, form, { fault: "d: ClickHouse away", away: () => stage.clickhouse.cut(), back: () => stage.clickhouse.pass(), apiPath: "/api/v1/vitals" });
}

/** Neither refused nor answered: the network swallows everything between the processes and ClickHouse. */
export function clickhouseSilent(stage: Stage, form: Form): Promise<FaultResult> {
  return storeAway(stage, form, { fault: "d: ClickHouse silent (half open)", away: async () => stage.clickhouse.halfOpen(), back: () => stage.clickhouse.pass(), apiPath: null });
}

interface Away {
  fault: string;
  away(): Promise<void>;
  back(): Promise<void>;
  /** A GET that needs the store; null when how long it waits is not judged. */
  apiPath: string | null;
}

function storeAway(stage: Stage, form: Form, { fault, away, back, apiPath }: Away): Promise<FaultResult> {
  return underLoad(stage, { fault, eventsPerSecond: EVENTS_PER_SECOND[form], recoverMs: 300_000 }, async ({ load, organization, want }) => {
    load.lap();
    await away();
    const end = performance.now() + AWAY_MS[form];
    try {
      await wait(AWAY_MS[form] / 2);
      if (apiPath !== null) {
        const { status, code } = await ask(`${stage.base}${apiPath}`, organization.apiKey);
        want(status === 503 && code === "UNAVAILABLE", `GET ${apiPath} answered ${status} ${code} meanwhile`);
      }
      await wait(Math.max(0, end - performance.now()));
      const { refused } = load.lap();
      want(refused === 0, `${refused} requests were refused meanwhile`);
    } finally {
      await back();
    }
    return `${AWAY_MS[form] / 1_000} s at ${EVENTS_PER_SECOND[form]} events/s`;
  });
}

async function ask(url: string, apiKey: string): Promise<{ status: number; code: string }> {
  const answer = await fetch(url, { headers: { "X-API-Key": apiKey }, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, code: ((await answer.json()) as { code?: string }).code ?? "" };
}

import { applyPushes } from "../domain/metrics/apply-pushes.ts";
import { evaluateBatch } from "../domain/metrics/evaluate-batch.ts";
import { newId } from "../platform/ids.ts";
import { inTransaction } from "../platform/postgres/database.ts";
import { services } from "../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS } from "../schemas/thresholds.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";
import { setSchedulerStage } from "./scheduler-stage.ts";

/**
 * What a mass outage costs: a batch of pushes, one for each service of some organizations, that all
 * breach and each open an incident; then the same pushes again, of which nothing follows. The
 * transaction's statements, its ms (median), and CPU-ms of this process and of PostgreSQL (means) a
 * batch. Each round has new services.
 *
 *   npx tsx bench/outage.ts [--services 500] [--organizations 2] [--rounds 10]
 */
const SERVICES = Number(option("services", "500"));
const ROUNDS = Number(option("rounds", "10"));
const ORGANIZATIONS = Number(option("organizations", "2"));
/** Rounds before those that count. */
const WARM_UP = 2;

interface Cost {
  statements: number;
  ms: number;
  node: number;
  postgres: number;
}

async function main(): Promise<void> {
  const { database, organizationIds, postgresCpu, stop } = await setSchedulerStage(ORGANIZATIONS);
  let statements = 0;
  const counted = new WeakSet();
  database.$client.on("acquire", (client) => {
    if (counted.has(client)) return;
    counted.add(client);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      statements += 1;
      return query(...given);
    }) as typeof client.query;
  });

  async function addServices(count: number) {
    const thresholds = { ...DEFAULT_THRESHOLDS, create_incident: true };
    const rows = Array.from({ length: count }, (_each, n) => ({
      id: newId(),
      organizationId: organizationIds[n % ORGANIZATIONS]!,
      name: `Service ${n}`,
      thresholds,
    }));
    await database.insert(services).values(rows);
    return rows;
  }

  async function apply(
    rows: Awaited<ReturnType<typeof addServices>>,
    opened: number,
  ): Promise<Cost> {
    const now = new Date();
    const pushes = rows.map(({ id, organizationId }) => ({
      organizationId,
      serviceId: id,
      receivedAt: now.getTime(),
      push: { serviceId: id, metrics: { error_rate: 12 }, timestamp: null },
    }));
    const before = { statements, at: performance.now(), node: ownCpu(), postgres: postgresCpu() };
    const effects = await inTransaction(database, (tx) =>
      applyPushes(tx, pushes, { now, evaluate: evaluateBatch }),
    );
    const ms = performance.now() - before.at;
    const node = (ownCpu() - before.node) / 1_000;
    const found = effects.filter((effect) => effect.incident_created !== null).length;
    if (found !== opened) throw new Error(`${found} incidents were opened in place of ${opened}.`);
    return {
      statements: statements - before.statements,
      ms,
      node,
      postgres: (postgresCpu() - before.postgres) / 1_000,
    };
  }

  try {
    const lines: string[][] = [["batch", "statements", "ms", "CPU-ms, Node", "CPU-ms, PostgreSQL"]];
    for (const count of [1, SERVICES]) {
      const [outage, steady]: [Cost[], Cost[]] = [[], []];
      for (let round = -WARM_UP; round < ROUNDS; round++) {
        const rows = await addServices(count);
        const costs = [await apply(rows, count), await apply(rows, 0)] as const;
        if (round < 0) continue;
        outage.push(costs[0]);
        steady.push(costs[1]);
      }
      const line = (name: string, costs: Cost[]) =>
        lines.push([
          `${count} services, ${name}`,
          String(costs[0]!.statements),
          median(costs.map(({ ms }) => ms)).toFixed(1),
          mean(costs.map(({ node }) => node)),
          mean(costs.map(({ postgres }) => postgres)),
        ]);
      line("all breach", outage);
      line("nothing changes", steady);
    }
    console.log(
      `${ROUNDS} rounds, ${ORGANIZATIONS} organizations; ${machine()}\n\n${table(lines)}`,
    );
  } finally {
    await stop();
  }
}

function mean(values: number[]): string {
  return (values.reduce((sum, each) => sum + each, 0) / values.length).toFixed(1);
}

await main();

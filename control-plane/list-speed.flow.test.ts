import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../domain/organizations/create.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

/** Rows of each kind in each of two organizations; `LIST_ROWS=100000 SHOW_TIMES=1` measures the size that is promised, in half a minute. */
const ROWS = Number(process.env.LIST_ROWS ?? 30_000);

interface Statement {
  text: string;
  values: unknown[];
}

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  Plans?: Plan[];
}

let plane: TestControlPlane;
let small: CreatedOrganization;
beforeAll(async () => {
  plane = await startTestControlPlane();
  const neighbour = await plane.createOrganization("team");
  small = await plane.createOrganization("team");
  for (const { organizationId, serviceId } of [plane.organization, neighbour]) await fill(organizationId, serviceId, ROWS);
  await fill(small.organizationId, small.serviceId, 20);
  await plane.database.execute(sql`vacuum analyze`);
}, 120_000);
afterAll(() => plane.stop());

async function fill(organizationId: string, serviceId: string, rows: number): Promise<void> {
  const { database } = plane;
  const series = sql`generate_series(1, ${rows}::int) as n`;
  const at = sql`timestamptz '2026-01-31' - n * interval '1 minute'`;
  await database.execute(sql`insert into services (id, organization_id, name, display_order) select gen_random_uuid(), ${organizationId}, 'Service ' || n, n from generate_series(1, least(${rows}::int, 2499)) as n`);
  await database.execute(sql`
    with made as (
      insert into incidents (id, organization_id, title, status, severity, started_at, created_at, updated_at)
      select gen_random_uuid(), ${organizationId}, 'Incident ' || n, 'resolved', 'minor', ${at}, ${at}, ${at} from ${series} returning id, created_at
    ), linked as (
      insert into incident_services (incident_id, service_id) select id, ${serviceId} from made where random() < 0.1
    )
    insert into incident_updates (id, incident_id, status, message, created_at) select gen_random_uuid(), id, 'resolved', 'Over', created_at from made`);
  await database.execute(sql`
    insert into error_signatures (id, organization_id, service_id, grouping_version, fingerprint, type, message, category, priority, handled, occurrences, first_seen, last_seen, release, environment, stack_trace, frames, grouping_parts)
    select gen_random_uuid(), ${organizationId}, ${serviceId}, 'v1', 'f' || n, 'TypeError', 'm' || n, 'javascript', 'low', false, 1, ${at}, ${at}, '1', 'production', 'at buy (app.js:1:1)', '[]', '[]' from ${series}`);
  await database.execute(sql`
    insert into audit_entries (id, organization_id, actor_type, actor_name, action, resource_type, resource_id, changed_fields, created_at)
    select gen_random_uuid(), ${organizationId}, 'cli', 'test', 'service.updated', 'service', ${serviceId}, '{name}', ${at} from ${series}`);
}

/** The statements that a request runs outside transactions. */
async function statementsOf(path: string, apiKey: string): Promise<Statement[]> {
  const pool = plane.database.$client;
  const statements: Statement[] = [];
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown;
  pool.query = ((config: { text: string }, values: unknown[]) => {
    statements.push({ text: config.text, values });
    return query(config, values);
  }) as typeof pool.query;
  try {
    await plane.call("GET", path, undefined, { "x-api-key": apiKey });
  } finally {
    pool.query = query as typeof pool.query;
  }
  // Whether the key was still known says nothing of the list.
  return statements.filter(({ text }) => text.startsWith("select") && !text.includes('from "api_keys"'));
}

async function explain({ text, values }: Statement): Promise<{ scanned: string[]; ms: number }> {
  const { rows } = await plane.database.$client.query<{ "QUERY PLAN": { Plan: Plan; "Execution Time": number }[] }>(`explain (analyze, timing off, format json) ${text}`, values);
  const [explained] = rows[0]!["QUERY PLAN"];
  const scans = (plan: Plan): string[] => [...(plan["Node Type"] === "Seq Scan" ? [plan["Relation Name"] ?? "?"] : []), ...(plan.Plans ?? []).flatMap(scans)];
  return { scanned: scans(explained!.Plan), ms: explained!["Execution Time"] };
}

/** Too large to be read whole by a list of one page. */
const LARGE = new Set(["incidents", "incident_updates", "incident_services", "error_signatures", "audit_entries"]);

const LISTS = ["/services", "/incidents?limit=100", "/incidents?status=resolved", "/incidents?offset=10", "/errors?limit=100", "/errors?status=new", "/audit-log?limit=100", "/audit-log?action=service.updated"];

describe(`with ${ROWS} rows in each of two organizations`, () => {
  it.each(LISTS)("GET %s reads by indexes, in milliseconds", async (path) => {
    const statements = await statementsOf(path, plane.organization.apiKey);
    expect(statements.length).toBeGreaterThan(0);
    let ms = 0;
    for (const statement of statements) {
      const explained = await explain(statement);
      // A total of everything cannot be had without reading everything; it only has to be quick.
      const large = statement.text.startsWith("select count(*)") ? [] : explained.scanned.filter((table) => LARGE.has(table));
      expect({ statement: statement.text, large }).toEqual({ statement: statement.text, large: [] });
      ms += explained.ms;
    }
    if (process.env.SHOW_TIMES) process.stdout.write(`${path}: ${statements.length} statements, ${ms.toFixed(1)} ms\n`);
    // What it takes on a quiet machine is a fraction of this; a list that reads everything takes several times as long.
    expect(ms).toBeLessThan(150);
  });

  it.each(LISTS)("GET %s takes as many statements for many rows as for few", async (path) => {
    const [many, few] = [await statementsOf(path, plane.organization.apiKey), await statementsOf(path.replace("limit=100", "limit=1"), small.apiKey)];
    expect(many.map(({ text }) => text.replace(/\$\d+(, \$\d+)+/g, "$…"))).toEqual(few.map(({ text }) => text.replace(/\$\d+(, \$\d+)+/g, "$…").replace("in ($1)", "in ($…)")));
  });
});

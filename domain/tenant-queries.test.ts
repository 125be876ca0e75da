import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROJECT_ROOT } from "../platform/root.ts";
import { freshClickHouse } from "../testing/clickhouse.ts";

/** Who reads or deletes rows in ClickHouse without naming an organization, and why that is right. */
const WITHOUT_ORGANIZATION: Record<string, string> = {
  "processors/consume/row-store.ts": "replays read what stands of a partition by its places, whoever's rows these are",
  "processors/errors/side-tables.ts": "replays fill the tables behind views from the rows that stand",
  "processors/errors/described-rows.ts": "reads rows back by the places that this process wrote",
  "processors/errors/seen-events/look-up.ts": "an event's id is looked up under the service of the event, which is part of what is compared",
  "processors/errors/seen-events/warm-up.ts": "fills filters with hashes of ids of a whole partition",
  "processors/dead-letters/rows-at.ts": "deletes the rows of dead letters by their places",
  "domain/retention/forget-rows.ts": "retention goes over the rows of all organizations",
  "platform/clickhouse/delete-rows.ts": "deletes what retention has chosen",
  "platform/clickhouse/check-durability.ts": "says which setting of a table is to be changed, and reads no row",
  "platform/clickhouse/embedded/insert-through-file.ts": "inserts rows from a file",
  "domain/errors/show.ts": "signature_slots has no column for it; services and ids come from the organization's signatures in Postgres",
  "domain/errors/widespread.ts": "goes over the signatures of all organizations; signature_slots has no column for it",
};

const FLOORS = ["clients/cli", "control-plane", "domain", "ingest", "platform", "processors", "roles"];
const isSource = (file: string) => /\.tsx?$/.test(file) && !/\.test\.ts$|\.child\.ts$|\/model\//.test(file);
const sources = FLOORS.flatMap((floor) => readdirSync(join(PROJECT_ROOT, floor), { recursive: true, encoding: "utf8" }).map((file) => `${floor}/${file}`)).filter(isSource);

let store: Awaited<ReturnType<typeof freshClickHouse>>;
let ofTenants: string[];
beforeAll(async () => {
  store = await freshClickHouse();
  const rows = await store.clickhouse.query<{ table: string }>("SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND name IN ('organization_id', 'service_id', 'monitor_id') AND table NOT LIKE '%\\_view' ORDER BY table");
  ofTenants = rows.map(({ table }) => table);
});
afterAll(() => store.drop());

/** Strings and templates of a file that read or delete rows of these tables, or of one that is filled in. Postgres' own, behind `sql`, are not among them. */
function queriesIn(file: string): string[] {
  const text = readFileSync(join(PROJECT_ROOT, file), "utf8");
  const reads = new RegExp(`\\b(?:FROM|JOIN|ALTER TABLE)\\s+(?:\`?(?:${ofTenants.join("|")})\\b|\\$\\{)`);
  if (!reads.test(text)) return [];
  const found: string[] = [];
  const tagged = new Set<number>();
  const look = ({ start, end }: { start: number; end: number }) => {
    const literal = text.slice(start, end);
    if (!tagged.has(start) && reads.test(literal)) found.push(literal);
  };
  const visitor = new Visitor({
    TaggedTemplateExpression: ({ tag, quasi }) => void (tag.type === "Identifier" && tag.name === "sql" && tagged.add(quasi.start)),
    TemplateLiteral: look,
    Literal: look,
  });
  visitor.visit(parseSync(file, text).program);
  return found;
}

it("knows the tables that hold rows of organizations", () => {
  expect(ofTenants).toEqual(expect.arrayContaining(["beacon_events", "check_results", "heartbeat_pings", "metric_samples", "signature_slots"]));
});

it("names the organization in every query on their rows, but for listed ones", () => {
  const nameless = sources.flatMap((file) => queriesIn(file).filter((query) => !query.includes("organization_id")).map((query) => ({ file, query })));
  expect(nameless.filter(({ file }) => !(file in WITHOUT_ORGANIZATION))).toEqual([]);
  // Who is listed needs to be.
  expect(Object.keys(WITHOUT_ORGANIZATION).filter((file) => !nameless.some((each) => each.file === file))).toEqual([]);
});

it("finds the queries there are", () => {
  expect(sources.flatMap(queriesIn).length).toBeGreaterThan(20);
});

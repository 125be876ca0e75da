import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ErrorExportQuery, type ExportedError } from "../../../schemas/api/errors.ts";
import { exportErrors } from "../../../domain/errors/export.ts";
import { ClickHouseUnavailable, type ClickHouse } from "../../../platform/clickhouse/port.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const SIGNATURES = 2_500;
const LINES_OF_CSV = SIGNATURES + 1;

let plane: TestControlPlane;
let stored: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;
let address: string;
/** Queries that ClickHouse still answers; the others find it away. */
let answers = Number.POSITIVE_INFINITY;
let asked = 0;

beforeAll(async () => {
  stored = await freshClickHouse();
  const query: ClickHouse["query"] = async (...given) => {
    if (++asked > answers) throw new ClickHouseUnavailable("away in a test");
    return stored.clickhouse.query(...given);
  };
  clickhouse = { ...stored.clickhouse, query };
  plane = await startTestControlPlane({ clickhouse });
  const { organizationId, serviceId } = plane.organization;
  // The n-th was seen n times, by n % 7 sessions.
  await plane.database.execute(sql`
    insert into error_signatures (id, organization_id, service_id, grouping_version, fingerprint, type, message, category, priority, handled, occurrences, first_seen, last_seen, release, environment)
    select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, ${organizationId}, ${serviceId}, 'v1', n, 'TypeError', 'no ' || n, 'javascript', 'low', false, n, timestamptz '2026-01-01', timestamptz '2026-01-31' - n * interval '1 minute', '1', 'production'
    from generate_series(1, ${SIGNATURES}::int) as n`);
  await stored.clickhouse.command(
    `INSERT INTO beacon_events (service_id, signature_id, event_id, type, session_id) SELECT {service:UUID}, toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number), 12, '0'))), generateUUIDv4(), 'error', toString(session)
     FROM numbers(1, ${SIGNATURES}) ARRAY JOIN range(number % 7) AS session`,
    { service: serviceId },
  );
  address = await plane.app.listen({ host: "127.0.0.1", port: 0 });
}, 60_000);
afterAll(async () => {
  await plane.stop();
  await stored.drop();
});
beforeEach(() => {
  answers = Number.POSITIVE_INFINITY;
  asked = 0;
});

const ask = (query: string) => fetch(`${address}/api/v1/errors/export?${query}`, { headers: { "x-api-key": plane.organization.apiKey } });

describe("an export of many errors", () => {
  it("holds each once, with its sessions, latest first, in both formats", async () => {
    const { body } = await plane.call("GET", "/errors/export?format=json&limit=10000");
    const errors = body.errors as { message: string; occurrences: number; sessions_affected: number }[];
    expect(errors.map(({ message, occurrences, sessions_affected: sessions }) => [message, occurrences, sessions])).toEqual(Array.from({ length: SIGNATURES }, (_, index) => [`no ${index + 1}`, index + 1, (index + 1) % 7]));
    expect(body.export).toEqual({ format: "json", from: "2026-01-01T00:00:00.000Z", to: "2026-01-30T23:59:00.000Z", total_errors: SIGNATURES, total_occurrences: (SIGNATURES * (SIGNATURES + 1)) / 2 });
    const answer = await ask("limit=10000");
    expect(answer.headers.get("content-length")).toBeNull();
    const lines = (await answer.text()).split("\r\n").slice(0, -1);
    expect(lines).toHaveLength(LINES_OF_CSV);
    expect(lines.at(-1)).toContain(`,no ${SIGNATURES},TypeError,${SIGNATURES},${SIGNATURES % 7},`);
  });

  it("reads no more than is asked for", async () => {
    const { organizationId } = plane.organization;
    const { pages } = await exportErrors({ database: plane.tenants.of(organizationId), clickhouse }, organizationId, ErrorExportQuery.parse({ limit: "10000" }), Date.now());
    const sizes: [number, number][] = [];
    for await (const page of pages) sizes.push([page.length, asked]);
    expect(sizes).toEqual([[50, 1], [1_000, 2], [1_000, 3], [450, 4]]);
  });

});

describe("an export while ClickHouse goes away", () => {
  it("is refused when nothing was sent yet", async () => {
    answers = 0;
    const answer = await ask("limit=10000");
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ code: "UNAVAILABLE" })]);
  });

  it.each(["csv", "json"])("is cut off when some of it was sent, as %s", async (format) => {
    answers = 1;
    const answer = await ask(`limit=10000&format=${format}`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });

  it("does not look whole to who speaks HTTP/1.0 either, and the next request is answered", async () => {
    answers = 1;
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /api/v1/errors/export?limit=10000 HTTP/1.0\r\nX-API-Key: ${plane.organization.apiKey}\r\n\r\n`);
    await expect(text(socket)).rejects.toMatchObject({ code: "ECONNRESET" });
    answers = Number.POSITIVE_INFINITY;
    expect((await (await ask("limit=10000")).text()).split("\r\n")).toHaveLength(LINES_OF_CSV + 1);
  });
});

it("what is merged while it is being exported stays as it was, and what is deleted ends the export", async () => {
  const { organizationId } = plane.organization;
  const [first, second, last] = [1, SIGNATURES - 1, SIGNATURES].map((n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`);
  const begin = async () => {
    const { pages } = await exportErrors({ database: plane.tenants.of(organizationId), clickhouse }, organizationId, ErrorExportQuery.parse({ limit: "10000" }), Date.now());
    return pages[Symbol.asyncIterator]();
  };
  const merging = await begin();
  await plane.database.execute(sql`with gone as (delete from error_signatures where id = ${last}) insert into error_aliases (id, organization_id, signature_id) values (${last}, ${organizationId}, ${first})`);
  let page: ExportedError[] = [];
  for (let next = await merging.next(); !next.done; next = await merging.next()) page = next.value;
  expect(page.at(-1)).toMatchObject({ id: last, message: "no 1", occurrences: SIGNATURES, sessions_affected: SIGNATURES % 7 });

  const deleting = await begin();
  await plane.database.execute(sql`delete from error_signatures where id = ${second}`);
  expect([(await deleting.next()).done, (await deleting.next()).done, (await deleting.next()).done]).toEqual([false, false, false]);
  await expect(deleting.next()).rejects.toThrow("deleted while");
});

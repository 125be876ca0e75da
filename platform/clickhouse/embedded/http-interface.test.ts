import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshClickHouse } from "../../../testing/clickhouse.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let origin: string;
let database: string;
let password: string;
beforeAll(async () => {
  fresh = await freshClickHouse();
  const url = new URL(fresh.url);
  ({ password } = url);
  origin = `http://${url.host}`;
  database = url.pathname.slice(1);
  await fresh.clickhouse.command("CREATE TABLE t (a UInt64, s String DEFAULT 'none') ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100");
});
afterAll(() => fresh.drop());

/** A request as curl would make it; the query's own parameters beside the database and the password. */
async function ask(parameters: Record<string, string>, options: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}): Promise<{ status: number; text: string; headers: Headers }> {
  const search = new URLSearchParams({ database, ...parameters });
  const response = await fetch(`${origin}/?${search}`, { method: "POST", ...options, headers: { "X-ClickHouse-User": "default", "X-ClickHouse-Key": password, ...options.headers } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const rowsOf = async (): Promise<string> => (await ask({ query: "SELECT a, s FROM t ORDER BY a, s FORMAT CSV" }, { method: "GET" })).text;

test("ping and the bare address answer without a password", async () => {
  for (const path of ["/ping", "/replicas_status"]) expect(await (await fetch(origin + path)).text()).toBe("Ok.\n");
  expect((await fetch(`${origin}/elsewhere`)).status).toBe(404);
});

test("a password is taken from headers, basic authorization or the URL, and must be right", async () => {
  const given = (search: string, headers: Record<string, string> = {}): Promise<Response> => fetch(`${origin}/?query=SELECT+1${search}`, { headers });
  expect(await (await given(`&user=default&password=${password}`)).text()).toBe("1\n");
  expect((await given("", { Authorization: `Basic ${Buffer.from(`default:${password}`).toString("base64")}` })).status).toBe(200);
  expect((await given("", { "X-ClickHouse-Key": password })).status).toBe(200);
  for (const wrong of [await given(""), await given("&password=wrong"), await given(`&user=somebody&password=${password}`)]) {
    expect(wrong.status).toBe(403);
    expect(wrong.headers.get("x-clickhouse-exception-code")).toBe("516");
    expect(await wrong.text()).toContain("(AUTHENTICATION_FAILED)");
  }
});

test("the answer names its format, query and reading", async () => {
  const { text, headers } = await ask({ query_id: "my id", default_format: "JSONEachRow" }, { body: "SELECT number FROM numbers(2)" });
  expect(text).toBe('{"number":0}\n{"number":1}\n');
  expect(headers.get("x-clickhouse-format")).toBe("JSONEachRow");
  expect(headers.get("x-clickhouse-query-id")).toBe("my id");
  expect(JSON.parse(headers.get("x-clickhouse-summary")!)).toMatchObject({ read_rows: "2" });
  expect((await ask({}, { body: "SELECT 1 FORMAT CSV" })).headers.get("x-clickhouse-format")).toBe("CSV");
  expect((await ask({}, { body: "SELECT 'a\tb'; -- done" })).text).toBe("a\\tb\n");
});

test("rows come in the body, behind the statement or apart from it, in any format, packed or not", async () => {
  await ask({ query: "INSERT INTO t FORMAT JSONEachRow" }, { body: '{"a": 1, "s": "é"}\n{"a": "2"}' });
  await ask({}, { body: "INSERT INTO t (a, s) VALUES (3, 'it''s; \\'quoted\\''), (4, concat('x', 'y'));" });
  await ask({}, { body: "INSERT INTO t (s, a) FORMAT CSV\nfive,5\n" });
  await ask({ query: "INSERT INTO t (* EXCEPT (s)) FORMAT TabSeparated" }, { body: new Uint8Array(gzipSync("6\n")), headers: { "Content-Encoding": "gzip" } });
  await ask({ query: "INSERT INTO t SETTINGS async_insert = 0 FORMAT RowBinary" }, { body: new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0, 2, 0xff, 0x0a]) });
  await ask({}, { body: "INSERT INTO t SELECT 8, 'selected'" });
  expect(await rowsOf()).toBe(`1,"é"\n2,"none"\n3,"it's; 'quoted'"\n4,"xy"\n5,"five"\n6,"none"\n7,"\ufffd\n"\n8,"selected"\n`);
  await ask({}, { body: "TRUNCATE TABLE t" });
});

test("settings of the URL hold for their statement and no other", async () => {
  const setting = (name: string): Promise<string> => ask({ query: `SELECT getSetting('${name}')` }).then(({ text }) => text.trim());
  const before = await setting("max_threads");
  expect((await ask({ query: "SELECT getSetting('max_threads')", max_threads: "1" })).text).toBe("1\n");
  expect((await ask({ query: "SELECT 1 UNION ALL SELECT getSetting('max_threads') SETTINGS max_threads = 1 FORMAT CSV", max_threads: "2", max_execution_time: "5" })).text).toContain("1");
  for (let time = 0; time < 2; time++) await ask({ query: "INSERT INTO t FORMAT CSV", insert_deduplication_token: "once" }, { body: "1,a" });
  for (const row of ["2,b", "3,c"]) await ask({ query: "INSERT INTO t FORMAT CSV" }, { body: row });
  await Promise.all([ask({ query: "SET max_threads = 1" }), ask({ query: "USE default" })]);
  expect(await setting("max_threads")).toBe(before);
  expect(await setting("insert_deduplication_token")).toBe("");
  expect(await rowsOf()).toBe('1,"a"\n2,"b"\n3,"c"\n');
  const unknown = await ask({ query: "SELECT 1", no_such_setting: "1" });
  expect([unknown.status, unknown.headers.get("x-clickhouse-exception-code")]).toEqual([404, "115"]);
  expect((await ask({ query: "SELECT 1", "x' = 1": "1" })).status).toBe(404);
  const transport = { wait_end_of_query: "1", enable_http_compression: "1", send_progress_in_http_headers: "1", http_headers_progress_interval_ms: "100", session_id: "x", compress: "0" };
  expect((await ask({ query: "SELECT 1", ...transport })).text).toBe("1\n");
  await ask({}, { body: "TRUNCATE TABLE t" });
});

test("each request has its own database, views and all", async () => {
  const other = `${database}_other`;
  await ask({}, { body: `CREATE DATABASE ${other}` });
  await ask({ database: other }, { body: "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a" });
  for (const name of [database, other]) {
    await ask({ database: name }, { body: "CREATE VIEW seen AS SELECT count() AS rows FROM t" });
  }
  await ask({ database: other, query: "INSERT INTO t FORMAT CSV" }, { body: "1\n2\n" });
  const answers = await Promise.all(Array.from({ length: 30 }, (_each, index) => ask({ database: index % 2 === 0 ? database : other, query: "SELECT rows, currentDatabase() FROM seen FORMAT CSV" })));
  expect(answers.map(({ text }) => text)).toEqual(answers.map((_each, index) => (index % 2 === 0 ? `0,"${database}"\n` : `2,"${other}"\n`)));
  await ask({}, { body: `DROP DATABASE ${other} SYNC` });
  expect((await ask({ database: "no_such", query: "SELECT 1" })).headers.get("x-clickhouse-exception-code")).toBe("81");
});

test("errors have the server's status, header and words", async () => {
  const cases: [body: string, status: number, code: string, type: string][] = [
    ["SELECT * FROM nowhere", 404, "60", "(UNKNOWN_TABLE)"],
    ["SELEC", 400, "62", "(SYNTAX_ERROR)"],
    ["", 400, "62", "(SYNTAX_ERROR)"],
    ["SELECT 1; DROP TABLE t", 400, "62", "(SYNTAX_ERROR)"],
    ["SELECT throwIf(1)", 500, "395", "(FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)"],
    ["INSERT INTO t (nope) FORMAT CSV\n1", 404, "16", "(NO_SUCH_COLUMN_IN_TABLE)"],
    ["INSERT INTO t FORMAT CSV\nnot a number,x", 400, "27", "(CANNOT_PARSE_INPUT_ASSERTION_FAILED)"],
    ["INSERT INTO t FORMAT NoFormat\n1", 404, "73", "(UNKNOWN_FORMAT)"],
    ["KILL QUERY WHERE user = 'default'", 501, "48", "(NOT_IMPLEMENTED)"],
  ];
  for (const [body, status, code, type] of cases) {
    const answer = await ask({}, { body });
    expect([body, answer.status, answer.headers.get("x-clickhouse-exception-code")]).toEqual([body, status, code]);
    expect(answer.text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: `));
    expect(answer.text).toContain(type);
  }
  expect(await rowsOf()).toBe("");
});

test("GET changes nothing", async () => {
  for (const query of ["DROP TABLE t", "INSERT INTO t VALUES (1, 'a')", "KILL QUERY WHERE query_id = 'x'"]) {
    expect((await ask({ query }, { method: "GET" })).headers.get("x-clickhouse-exception-code")).toBe("164");
  }
  expect(await rowsOf()).toBe("");
});

test("a body above 64 MiB is refused, also when it was packed small", async () => {
  const packed = new Uint8Array(gzipSync(Buffer.alloc(70 * 1024 * 1024)));
  const answer = await ask({ query: "INSERT INTO t FORMAT CSV" }, { body: packed, headers: { "Content-Encoding": "gzip" } });
  expect(answer.status).toBe(413);
  expect((await ask({ query: "SELECT 1" })).text).toBe("1\n");
  expect((await ask({ query: "INSERT INTO t FORMAT CSV" }, { body: "no gzip", headers: { "Content-Encoding": "gzip" } })).status).toBe(500);
});

test("parameters of a URL are unescaped as a server does", async () => {
  expect((await ask({ query: "SELECT {s:String} FORMAT RawBLOB", param_s: "a\\tb\\\\c'" })).text).toBe("a\tb\\c'");
  expect((await ask({ query: "SELECT count() FROM {table:Identifier}", param_table: "t" })).text).toBe("0\n");
  expect((await ask({ query: "SELECT * FROM {table:Identifier}", param_table: "t` WHERE 1 --" })).headers.get("x-clickhouse-exception-code")).toBe("60");
  expect((await ask({ query: "SELECT {m:Map(String, UInt8)}", param_m: "{'a': 1), (SELECT 2" })).headers.get("x-clickhouse-exception-code")).toBe("457");
});

test("two statements cannot have one id at a time", async () => {
  const slow = ask({ query_id: "twin" }, { body: "SELECT sum(sleepEachRow(0.1)) FROM numbers(100) SETTINGS max_block_size = 1" });
  await expect.poll(() => ask({ query: "SELECT count() FROM system.processes WHERE Settings['log_comment'] = 'twin'" }).then(({ text }) => text)).toBe("1\n");
  expect((await ask({ query_id: "twin" }, { body: "SELECT 1" })).headers.get("x-clickhouse-exception-code")).toBe("216");
  await ask({}, { body: "KILL QUERY WHERE query_id = 'twin' SYNC" });
  expect((await slow).headers.get("x-clickhouse-exception-code")).toBe("394");
  expect((await ask({ query_id: "twin" }, { body: "SELECT 1" })).text).toBe("1\n");
});

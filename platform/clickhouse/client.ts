import { Readable } from "node:stream";
import { ClickHouseError, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { newId } from "../ids.ts";
import type { Log } from "../log.ts";
import { keepSpare } from "./byte-sink.ts";
import { ClickHouseUnavailable, type ClickHouse } from "./port.ts";
import { encodeRows, encodeUnevenRows, type TableColumn, type WrittenRows } from "./row-binary.ts";
import { quotedName, stringLiteral } from "./tokens.ts";

/** The largest insert: beyond it, one statement could become several blocks, and a token would no longer hold them together. */
const MOST_ROWS = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;

const QUERY_TIMEOUT_MS = 30_000;
const STATEMENT_TIMEOUT_MS = 120_000;
/** How much longer than the query's own limit an answer is waited for. */
const ANSWER_GRACE_MS = 2_000;

/**
 * Settings of every insert, in the statement itself: whatever a profile, a proxy or a session says, the same rows must
 * give the same single block, at once, in the tables behind views too. They hold for ClickHouse 24.8 and later.
 */
const INSERT_SETTINGS = [
  "async_insert = 0",
  "insert_deduplicate = 1",
  "deduplicate_blocks_in_dependent_materialized_views = 1",
  "max_insert_block_size = 1048576",
  "min_insert_block_size_rows = 1048576",
  "min_insert_block_size_bytes = 0",
  "max_insert_threads = 1",
  "parallel_view_processing = 0",
  "input_format_parallel_parsing = 0",
  // A table that is not what we took it for must say so: its columns are told apart by names and types.
  "input_format_with_names_use_header = 1",
  "input_format_with_types_use_header = 1",
].join(", ");

/** Codes with which a server says that it cannot now, rather than that the statement is wrong. */
const PASSING_CODES = new Set(["202", "203", "209", "210", "225", "236", "241", "242", "243", "252", "319", "999"]);

/**
 * ClickHouse by its address: `http[s]://user:password@host:port/database`. Nothing is sent until it is used. A statement that
 * was refused rejects with the client's `ClickHouseError` (`code`, `type`), one that could not be brought across with `ClickHouseUnavailable`.
 */
export function openClickHouse(url: string, log: Log): ClickHouse {
  const client = createClient({
    url,
    application: "pharos",
    request_timeout: STATEMENT_TIMEOUT_MS + ANSWER_GRACE_MS,
    max_open_connections: 20,
    // Long lists of ids would not fit in a URL.
    use_multipart_params_auto: true,
    // Every failure is thrown; the client's own lines would hold statements and their rows.
    log: { level: ClickHouseLogLevel.OFF },
  });

  const bodies = { limit: MOST_BYTES, spare: [] as Buffer[] };
  /** The columns of the tables that were inserted into, by the table's name. */
  const described = new Map<string, TableColumn[]>();

  async function reached<T>(what: string, timeoutMs: number, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      return await send(signal);
    } catch (error) {
      if (error instanceof ClickHouseError && !PASSING_CODES.has(error.code)) throw error;
      const reason = signal.aborted ? `no answer within ${Math.round(timeoutMs / 1000)} s` : reasonOf(error);
      log.debug({ err: error, what }, "ClickHouse is unavailable");
      throw new ClickHouseUnavailable(reason, error);
    }
  }

  async function describe(table: string): Promise<TableColumn[]> {
    const answer = await reached("describe", QUERY_TIMEOUT_MS, (signal) => client.query({ query: `DESCRIBE TABLE ${table}`, format: "JSONEachRow", abort_signal: signal }));
    const columns = (await answer.json<TableColumn & { default_type: string }>()).filter(({ default_type }) => default_type !== "ALIAS" && default_type !== "MATERIALIZED");
    described.set(table, columns);
    return columns;
  }

  /** By the columns that we know the table to have; when they do not fit the rows, by those that it has now. */
  async function encoded(table: string, rows: object[]): Promise<ReturnType<typeof encodeUnevenRows>> {
    const known = described.get(table);
    const quick = known && encodeRows(known, rows, bodies);
    if (quick) return quick;
    const columns = await describe(table);
    return encodeRows(columns, rows, bodies) ?? encodeUnevenRows(columns, rows, bodies);
  }

  async function send(name: string, { columns, format, body }: WrittenRows, { token, queryId }: { token: string | undefined; queryId: string | undefined }): Promise<void> {
    // Without a token, ClickHouse would take equal rows for a repetition; with one that nobody repeats it does not.
    const settings = `${INSERT_SETTINGS}, insert_deduplication_token = ${stringLiteral(token ?? uniqueToken())}`;
    await sendInsert(`INSERT INTO ${name} (${columns.map(quotedName).join(", ")}) SETTINGS ${settings} FORMAT ${format}`, body, queryId);
  }

  async function sendInsert(query: string, body: readonly Uint8Array[], queryId: string | undefined): Promise<void> {
    await reached("insert", STATEMENT_TIMEOUT_MS, async (signal) => {
      const { stream } = await client.exec({
        query,
        values: Readable.from(body, { objectMode: false }),
        abort_signal: signal,
        ...(queryId !== undefined && { query_id: queryId }),
      });
      await drain(stream);
    });
  }

  return {
    query: <Row>(sql: string, params?: Record<string, unknown>, options: { timeoutMs?: number } = {}): Promise<Row[]> => {
      const timeoutMs = options.timeoutMs ?? QUERY_TIMEOUT_MS;
      return reached("query", timeoutMs + ANSWER_GRACE_MS, async (signal) => {
        const answer = await client.query({
          query: sql,
          format: "JSONEachRow",
          abort_signal: signal,
          ...(params && { query_params: params }),
          clickhouse_settings: { output_format_json_quote_64bit_integers: 1, output_format_json_quote_denormals: 1, max_execution_time: timeoutMs / 1000 },
        });
        return answer.json<Row>();
      });
    },

    async *stream(sql, params) {
      const timeoutMs = QUERY_TIMEOUT_MS + ANSWER_GRACE_MS;
      // One limit for the answer and all its pieces.
      const signal = AbortSignal.timeout(timeoutMs);
      const send = async (): Promise<AsyncIterator<Uint8Array>> => {
        const { stream } = await client.exec({
          query: `${sql} FORMAT RowBinary`,
          abort_signal: signal,
          ...(params && { query_params: params }),
          // Otherwise an error amid the rows would look like rows.
          clickhouse_settings: { wait_end_of_query: 1, max_execution_time: QUERY_TIMEOUT_MS / 1000 },
        });
        return stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      };
      const pieces = await reached("stream", timeoutMs, send);
      try {
        for (;;) {
          const { done, value } = await reached("stream", timeoutMs, () => pieces.next());
          if (done) return;
          yield value;
        }
      } finally {
        // Whoever stops early leaves a connection with the rest of the answer in it.
        await pieces.return?.();
      }
    },

    async insert(table, rows, { token, queryId }) {
      if (rows.length === 0) return;
      if (rows.length > MOST_ROWS) throw new RangeError(`${rows.length} rows are too many for one insert: at most ${MOST_ROWS}`);
      const name = tableName(table);
      try {
        const written = await encoded(name, rows);
        await send(name, written, { token, queryId });
        // Only now: of one that failed, some may still be on its way.
        keepSpare(bodies.spare, written.body);
      } catch (error) {
        // Perhaps because it is another table by now; whoever tries again asks for its columns first.
        if (!(error instanceof ClickHouseUnavailable)) described.delete(name);
        throw error;
      }
    },

    columnsOf: async (table) => described.get(tableName(table)) ?? describe(table),

    async insertEncoded(table, rows, { queryId, onlyIf = "1" }) {
      if (rows.ends.length === 0) return;
      const name = tableName(table);
      const names = rows.columns.map((column) => quotedName(column.name)).join(", ");
      const structure = rows.columns.map((column) => `${quotedName(column.name)} ${column.type}`).join(", ");
      // A token of its own for each attempt: a proxy that repeats the request adds nothing, and equal rows stay apart.
      const settings = `${INSERT_SETTINGS}, insert_deduplication_token = ${stringLiteral(uniqueToken())}`;
      const select = `SELECT ${names} FROM input(${stringLiteral(structure)}) WHERE ${onlyIf}`;
      try {
        await sendInsert(`INSERT INTO ${name} (${names}) SETTINGS ${settings} ${select} FORMAT RowBinary`, rows.body, queryId);
      } catch (error) {
        if (!(error instanceof ClickHouseUnavailable)) described.delete(name);
        throw error;
      }
    },

    async killQueries(queryIds) {
      if (queryIds.length === 0) return;
      const ids = queryIds.map(stringLiteral).join(", ");
      await reached("kill", STATEMENT_TIMEOUT_MS, (signal) => client.command({ query: `KILL QUERY WHERE query_id IN (${ids}) SYNC`, abort_signal: signal }));
    },

    async command(sql, params) {
      await reached("command", STATEMENT_TIMEOUT_MS, (signal) => client.command({ query: sql, abort_signal: signal, ...(params && { query_params: params }) }));
    },

    async ping() {
      // A SELECT and not `/ping`, which answers even where the password or the database is wrong.
      const answer = await client.ping({ select: true });
      if (!answer.success) throw new ClickHouseUnavailable(reasonOf(answer.error), answer.error);
    },

    close: () => client.close(),
  };
}

/** The name of a table, perhaps with its database; anything else is a mistake of ours and is thrown. */
function tableName(table: string): string {
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?$/.test(table)) throw new TypeError(`"${table}" is no table's name`);
  return table;
}

/** Tables that are filled from the log refuse a token of another form: it is of a version that knows no fences. */
function uniqueToken(): string {
  return `batch/${newId()}`;
}

async function drain(stream: Readable): Promise<void> {
  for await (const _chunk of stream) {
    // An insert answers with nothing.
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A connection tried on several addresses fails with an AggregateError that has no message.
  const inner = error instanceof AggregateError ? error.errors.map(reasonOf).join("; ") : "";
  return error.message || inner || error.name;
}

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { checkPassword, readBody, readParameters } from "./read-request.ts";
import { errorAnswer, REFUSED } from "./refusal.ts";
import { requestSettings } from "./request-settings.ts";
import type { StatementRequest, StatementRunner } from "./run-statement.ts";

/**
 * ClickHouse's HTTP interface (https://clickhouse.com/docs/interfaces/http), as far as clients and curl use it. Not
 * offered: sessions, native compression, packed answers, answers in a stream.
 */
export function makeHttpInterface({ runner, password }: { runner: StatementRunner; password: string }): Server {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname === "/ping" || url.pathname === "/replicas_status") return void response.end("Ok.\n");
    if (url.pathname !== "/") return void response.writeHead(404, { "content-type": "text/plain; charset=UTF-8" }).end(`There is no handle ${url.pathname}\n\nUse / or /ping for health checks.\nSend queries from your program with POST method or GET /?query=...\n`);
    const queryId = url.searchParams.get("query_id") || [request.headers["x-clickhouse-query-id"]].flat()[0] || randomUUID();
    response.setHeader("X-ClickHouse-Query-Id", headerSafe(queryId));
    response.setHeader("X-ClickHouse-Server-Display-Name", "embedded");
    try {
      checkPassword(request, url.searchParams, password);
      const arrived = runner.arriving(queryId, () => request.destroy());
      const statement = await readRequest(request, url.searchParams, queryId).finally(arrived);
      if (!statement) return void response.end("Ok.\n");
      const { result, format } = await runner.run(statement);
      const summary = { read_rows: String(result.rowsRead), read_bytes: String(result.bytesRead), elapsed_ns: String(Math.round(result.elapsed * 1e9)) };
      response.writeHead(200, {
        "Content-Type": contentType(format),
        "Content-Length": result.bytes.byteLength,
        "X-ClickHouse-Format": headerSafe(format),
        "X-ClickHouse-Summary": JSON.stringify(summary),
      });
      response.end(result.bytes);
    } catch (error) {
      const { status, code, text } = errorAnswer(error);
      // What has not been read of the body would be taken for the next request.
      if (!request.complete) response.setHeader("Connection", "close");
      response.writeHead(status, { "Content-Type": "text/plain; charset=UTF-8", "X-ClickHouse-Exception-Code": code }).end(`${text}\n`);
    }
  };
  // A server takes URLs up to 1 MiB, which parameters and statements need.
  const server = createServer({ maxHeaderSize: 1024 * 1024, keepAliveTimeout: 30_000, requestTimeout: 0 }, (request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  return server;
}

/** Null for `GET /` without a query, which only asks whether somebody is there. */
async function readRequest(request: IncomingMessage, search: URLSearchParams, queryId: string): Promise<StatementRequest | null> {
  const readOnly = request.method === "GET" || request.method === "HEAD";
  if (search.get("decompress") === "1") throw REFUSED.notImplemented("ClickHouse's native compression is not offered; use Content-Encoding: gzip");
  const body = await readBody(request);
  const { parameters, form } = await readParameters(search, request.headers["content-type"], body);
  const query = form?.query || search.get("query");
  if (!query && readOnly) return null;
  const header = (name: string): string | undefined => [request.headers[name]].flat()[0];
  return {
    text: query ? Buffer.from(`${query}\n`, "utf8") : body,
    data: query && !form ? body : Buffer.alloc(0),
    queryId,
    database: header("x-clickhouse-database") ?? (search.get("database") || "default"),
    settings: requestSettings(search),
    parameters,
    defaultFormat: formatName(search.get("default_format") ?? header("x-clickhouse-format") ?? "TabSeparated"),
    readOnly,
  };
}

function formatName(name: string): string {
  if (!/^\w+$/.test(name)) throw REFUSED.syntax(`"${name}" is no format's name`);
  return name;
}

function contentType(format: string): string {
  if (format.startsWith("JSON")) return format.endsWith("EachRow") ? "application/x-ndjson; charset=UTF-8" : "application/json; charset=UTF-8";
  if (format.startsWith("CSV")) return "text/csv; charset=UTF-8";
  if (format.startsWith("TabSeparated") || format.startsWith("TSV")) return "text/tab-separated-values; charset=UTF-8";
  return /^(?:Pretty|Vertical|Values|XML|Markdown)/.test(format) ? "text/plain; charset=UTF-8" : "application/octet-stream";
}

/** A header's value may hold only visible ASCII. */
function headerSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

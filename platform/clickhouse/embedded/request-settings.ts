import { quotedName, stringLiteral, tokens } from "../tokens.ts";
import { REFUSED } from "./refusal.ts";
import type { Other } from "./statement.ts";

/** Names in a request's URL that are no settings of the query: addresses, identity, and what concerns only the transport. */
const TRANSPORT = new Set([
  "query", "database", "query_id", "user", "password", "default_format", "session_id", "session_timeout", "session_check", "close_session", "quota_key", "role",
  "compress", "decompress", "buffer_size", "stacktrace", "wait_end_of_query", "enable_http_compression", "http_zlib_compression_level", "http_native_compression_disable_checksumming_on_decompress",
  "send_progress_in_http_headers", "http_headers_progress_interval_ms", "http_wait_end_of_query", "http_response_buffer_size", "http_write_exception_in_output_format", "http_response_headers",
  "add_http_cors_header", "cancel_http_readonly_queries_on_client_close", "client_protocol_version",
]);

/** Settings of a request's URL, name → value, in the order they came. The engine judges names and values. */
export function requestSettings(search: URLSearchParams): Map<string, string> {
  const settings = new Map<string, string>();
  for (const [name, value] of search) {
    if (TRANSPORT.has(name) || name.startsWith("param_")) continue;
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) throw REFUSED.unknownSetting(name);
    settings.set(name, value);
  }
  return settings;
}

/** `a = '1', b = '2'`. Every setting may be given as a string. */
export function settingsText(settings: Iterable<readonly [string, string]>): string {
  return [...settings].map(([name, value]) => `${quotedName(name)} = ${stringLiteral(value)}`).join(", ");
}

/** The names that a SETTINGS clause, or any text with `name =` in it, gives. */
export function namesIn(clause: string): Set<string> {
  const all = [...tokens(clause)];
  const names = all.filter((token, index) => token.kind === "word" && clause[all[index + 1]?.start ?? -1] === "=").map(({ start, end }) => clause.slice(start, end));
  return new Set(names);
}

/**
 * A statement with the request's settings in its own SETTINGS clause. They must never be SET: the engine keeps
 * that for every later query of the session. What the statement sets itself wins, as on a server.
 */
export function withSettings(statement: Other, settings: ReadonlyMap<string, string>, format: string): string {
  const { sql, settingsAt } = statement;
  if (!settingsAt || settings.size === 0) return sql;
  const own = /\bSETTINGS\b/i.test(sql) ? namesIn(sql) : new Set<string>();
  const text = settingsText([...settings].filter(([name]) => !own.has(name)));
  if (text === "") return sql;
  const { position, extend } = settingsAt;
  if (statement.kind === "insert select") return `${sql.slice(0, position)}${extend ? ` ${text},` : ` SETTINGS ${text} `}${sql.slice(position)}`;
  if (extend) return `${sql}, ${text}`;
  return `${sql}${statement.format ? "" : ` FORMAT ${format}`} SETTINGS ${text}`;
}

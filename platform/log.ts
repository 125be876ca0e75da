import pino from "pino";

export type Log = pino.Logger;

/** Field names whose values never reach a log line, at any depth that we log. */
const SECRET_FIELDS = ["key", "api_key", "password", "secret", "signing_secret", "authorization", "DATABASE_URL", "CLICKHOUSE_URL", "SMTP_URL"];

/** JSON lines on standard output; `level` as pino's (`silent` for tests). */
export function makeLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`].map((path) => path.replace(/\.?([^.*]+)$/, '["$1"]'))), censor: "[redacted]" },
  });
}

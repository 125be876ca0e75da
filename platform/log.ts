import pino from "pino";
import { logError } from "./log-error.ts";

export type Log = pino.Logger;

/** Field names whose values never reach a log line, at any depth that we log. */
const SECRET_FIELDS = ["key", "api_key", "password", "secret", "signing_secret", "authorization", "DATABASE_URL", "DATABASE_APPLICATION_URL", "DATABASE_TENANT_URL", "CLICKHOUSE_URL", "SMTP_URL"];

/** JSON lines, on standard output unless another place is given; `level` as pino's (`silent` for tests). */
export function makeLog(level: string, destination?: pino.DestinationStream): Log {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    serializers: { err: logError },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`].map((path) => path.replace(/\.?([^.*]+)$/, '["$1"]'))), censor: "[redacted]" },
  };
  return destination ? pino(options, destination) : pino(options);
}

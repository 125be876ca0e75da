/** What is logged of an error. */
interface LoggedError {
  type: string;
  message: string;
  code?: string | number;
  query?: string;
  stack: string;
  cause?: unknown;
}

const FRAME = /^\s+at /;

/**
 * An error as it is logged: drizzle repeats the parameters of a query, and Postgres the row or the value that it refused, any of which may be a
 * secret. What is no error stays as it is.
 */
export function logError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, query, cause } = error as Error & { code?: unknown; query?: unknown };
  const logged: LoggedError = { type: error.constructor.name, message: messageOf(error, code, query), stack: framesOf(error) };
  if (typeof code === "string" || typeof code === "number") logged.code = code;
  if (typeof query === "string") logged.query = query;
  if (error instanceof AggregateError) logged.cause = error.errors.map(logError);
  else if (cause !== undefined) logged.cause = logError(cause);
  return logged;
}

function messageOf({ message }: Error, code: unknown, query: unknown): string {
  if (typeof query === "string" && message.startsWith("Failed query:")) return "Failed query";
  // Class 22 of SQLSTATE: the message quotes what it could not read.
  return typeof code === "string" && /^22[0-9A-Z]{3}$/.test(code) ? message.replace(/".*"/s, '"…"') : message;
}

/** Without the message, which stands above the frames. */
function framesOf({ stack }: Error): string {
  return (stack ?? "").split("\n").filter((line) => FRAME.test(line)).join("\n");
}

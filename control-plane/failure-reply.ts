import { ClickHouseUnavailable } from "../platform/clickhouse/port.ts";
import { Failure, FAILURE_STATUS, failureBody } from "../platform/failures.ts";
import { TooManyLoads } from "../platform/load-together.ts";
import { isPostgresAway, postgresCode } from "../platform/postgres/database.ts";
import { tooLarge } from "./read-body.ts";

/** Seconds after which a caller may try again while a store is away. */
const RETRY_AFTER_SECONDS = 5;

/** An error answer, ready to be sent. */
interface FailureReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function failureReply(failure: Failure, requestId: string): FailureReply {
  const { retryAfter } = failure.details;
  return {
    status: FAILURE_STATUS[failure.code],
    headers: { "Content-Type": "application/json; charset=utf-8", ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }) },
    body: JSON.stringify(failureBody(failure, requestId)),
  };
}

/** What a person is told of anything thrown below a route. What is not known here is INTERNAL and says nothing of its cause. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ClickHouseUnavailable || isPostgresAway(error)) return away("A database of the service is away for the moment.");
  if (error instanceof TooManyLoads) return new Failure("UNAVAILABLE", "Too much is being looked up at this moment.", { retryAfter: 1, fix: "Send it again." });
  const sqlState = postgresCode(error);
  if (sqlState === "57014") return away("The database took too long.");
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return byCode(code) ?? new Failure("INTERNAL", "Something went wrong here; it was logged under this request id.");
}

function away(sentence: string): Failure {
  return new Failure("UNAVAILABLE", sentence, { retryAfter: RETRY_AFTER_SECONDS, fix: "Try again in a few seconds." });
}

/** Failures of Fastify and its plugins, by their codes. */
function byCode(code: string): Failure | null {
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return tooLarge();
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Failure("UNSUPPORTED_MEDIA_TYPE", "The body is not sent as JSON.", { fix: "Set Content-Type: application/json." });
    case "FST_ERR_ROUTE_MISSING_CONTENT_TYPE":
      return new Failure("INVALID_REQUEST", "A QUERY needs a Content-Type.", { fix: "Use GET with query parameters; /docs lists every endpoint." });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Failure("INVALID_REQUEST", "The body is not as long as Content-Length says.");
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new Failure("INVALID_REQUEST", "The address is not valid.", { fix: "Percent-encode what stands in the path." });
    default:
      return code.startsWith("FST_REPLY_FROM_") ? away("The part of the service that takes this in is away for the moment.") : null;
  }
}

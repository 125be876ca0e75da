/**
 * Failures that reach a person. A failure is thrown as one of these codes anywhere below
 * the doors and translated to HTTP in one place (`control-plane/failure-reply.ts`, `ingest/reply.ts`).
 */
export const FAILURE_STATUS = {
  INVALID_JSON: 400,
  INVALID_REQUEST: 400,
  INVALID_DESIGN: 400,
  DEFAULT_PAGE: 400,
  ONLY_PAGE: 400,
  UNREACHABLE_DOMAIN: 400,
  INVALID_SOURCE_MAP: 400,
  UNAUTHENTICATED: 401,
  INSUFFICIENT_SCOPE: 403,
  PLAN_RESTRICTED: 403,
  PLAN_LIMIT: 403,
  FOREIGN_SERVICE: 403,
  FORBIDDEN_ORIGIN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SLUG_TAKEN: 409,
  DRAFT_MISMATCH: 409,
  IDEMPOTENCY_MISMATCH: 409,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  CERTIFICATE_UNAVAILABLE: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;
export type FailureCode = keyof typeof FAILURE_STATUS;

export interface FailureDetails {
  /** JSON Pointer into the request. */
  path?: string;
  /** What to do about it, as a sentence. */
  fix?: string;
  /** For INVALID_DESIGN. */
  issues?: unknown[];
  /** Seconds, sent as `Retry-After`. */
  retryAfter?: number;
}

/** The body of every error answer (conventions §1). */
export interface FailureBody {
  error: string;
  code: FailureCode;
  request_id: string;
  path?: string;
  fix?: string;
  issues?: unknown[];
}

export class Failure extends Error {
  readonly code: FailureCode;
  readonly details: FailureDetails;

  constructor(code: FailureCode, sentence: string, details: FailureDetails = {}) {
    const { stackTraceLimit } = Error;
    // Most are answers to what somebody sent, by the thousand a second, and taking a stack is half of their cost.
    if (code !== "INTERNAL") Error.stackTraceLimit = 0;
    super(sentence);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Failure";
    this.code = code;
    this.details = details;
  }
}

/** The answer's body for a failure; `request_id` ties it to the log line. */
export function failureBody(failure: Failure, requestId: string): FailureBody {
  const { path, fix, issues } = failure.details;
  return {
    error: failure.message,
    code: failure.code,
    request_id: requestId,
    ...(path !== undefined && { path }),
    ...(fix !== undefined && { fix }),
    ...(issues !== undefined && { issues }),
  };
}

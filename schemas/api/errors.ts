import { z } from "zod";
import { FRAME_VERDICTS, UNMAPPED_REASONS } from "../frames.ts";
import { ERROR_CATEGORIES, ERROR_STATUSES, PRIORITIES } from "../vocabulary.ts";
import { limit, Offset, Timestamp } from "./shared.ts";

const Status = z.enum(ERROR_STATUSES);

const signatureFields = {
  id: z.uuid(),
  fingerprint: z.string(),
  message: z.string().meta({ example: "Cannot read properties of undefined (reading 'total')" }),
  type: z.string().meta({ example: "TypeError" }),
  status: Status,
  occurrences: z.number().int(),
  sessions_affected: z.number().int().meta({ description: "Unique sessions, exactly; events without a session do not count." }),
  first_seen: Timestamp,
  last_seen: Timestamp,
  release: z.string().meta({ description: "The release of its first event; empty when that named none." }),
  environment: z.string().meta({ description: "The environment of its first event.", example: "production" }),
  stack_trace: z.string(),
  service_id: z.uuid(),
  category: z.enum(ERROR_CATEGORIES),
  priority: z.enum(PRIORITIES),
  culprit: z.string().nullable().meta({ description: "The innermost function of the application, and its file.", example: "applyCoupon (/assets/checkout.js)" }),
};

export const ErrorSignature = z.object(signatureFields).meta({ id: "ErrorSignature" });
export type ErrorSignature = z.infer<typeof ErrorSignature>;

export const OriginalPosition = z.object({
  source: z.string(),
  line: z.number().int(),
  column: z.number().int(),
  name: z.string().nullable().meta({ description: "Of the function around it." }),
  context: z.object({ pre: z.array(z.string()), line: z.string(), post: z.array(z.string()) }).nullable().meta({ description: "Its line with five before and after; null when the map does not hold its source." }),
});

const StackFrame = z
  .object({
    function: z.string().nullable().meta({ description: "Null when the engine gave no name." }),
    file: z.string().nullable(),
    line: z.number().int().nullable().meta({ description: "1-based; null for native frames." }),
    column: z.number().int().nullable().meta({ description: "1-based; null for native frames and where the engine gave none." }),
    in_app: z.boolean().meta({ description: "False for libraries, browser extensions and the runtime." }),
    original: OriginalPosition.nullable().meta({ description: "The place in the source, through a source map." }),
    unmapped_reason: z.enum(UNMAPPED_REASONS).nullable(),
  })
  .meta({ id: "StackFrame" });

const SignatureFrame = StackFrame.extend({
  grouping: z.enum(FRAME_VERDICTS).nullable().meta({
    description:
      "Whether it counts for the grouping, or why not: `async` waits behind an asynchronous call, `constructor` makes the error, `library` stands beside frames of the application, `native` and `eval` have no file of their own, `repeated` is recursion, `too_far` is farther out than counts. Null where no frame counts, and for signatures of v1.",
  }),
}).meta({ id: "SignatureFrame" });

export const ErrorOccurrence = z
  .object({
    id: z.uuid().meta({ description: "The event's id, as sent or made by the service." }),
    type: z.string(),
    message: z.string(),
    timestamp: Timestamp.meta({ description: "When it happened by the client's clock, or when it was received if that clock is far off." }),
    received_at: Timestamp,
    release: z.string(),
    environment: z.string(),
    session_id: z.string().nullable(),
    user: z.object({ id: z.string() }).nullable(),
    url: z.string().nullable(),
    handled: z.boolean(),
    level: z.string(),
    stack_trace: z.string(),
    frames: z.array(StackFrame).meta({ description: "Innermost first." }),
    causes: z.array(z.object({ error_type: z.string(), message: z.string(), stack: z.string() })),
    breadcrumbs: z.array(z.unknown()),
    tags: z.record(z.string(), z.string()),
    sdk: z.string().nullable(),
    truncated: z.boolean().meta({ description: "Something was cut to its limit: message 8 KiB, 100 frames, 64 tags of 200 characters, 100 breadcrumbs." }),
  })
  .meta({ id: "ErrorOccurrence" });
export type ErrorOccurrence = z.infer<typeof ErrorOccurrence>;

export const ErrorDetail = z
  .object({
    ...signatureFields,
    resolved_at: Timestamp.nullable().meta({ description: "When it was resolved last; it stays when the error comes back." }),
    resolved_in_release: z.string().nullable().meta({ description: "Only an event in a release after this one brings it back." }),
    ignore_until: Timestamp.nullable().meta({ description: "When it stops being ignored." }),
    ignore_until_occurrences: z.number().int().nullable().meta({ description: "How many more events end that it is ignored." }),
    frames: z.array(SignatureFrame).meta({ description: "Of its first event, innermost first." }),
    grouping: z
      .object({ version: z.string(), parts: z.array(z.object({ kind: z.enum(["custom", "type", "frame", "message", "cause"]), value: z.string() })) })
      .meta({ description: "Why its events are one: the parts that the fingerprint is made of." }),
    latest_occurrence: ErrorOccurrence.nullable().meta({ description: "Null once the events are older than they are kept." }),
    by_release: z.array(z.object({ release: z.string(), occurrences: z.number().int(), first_seen: Timestamp, last_seen: Timestamp })).meta({ description: "Latest first, at most 100." }),
    trend: z.array(z.number().int()).length(24).meta({ description: "Events in each of the last 24 hours, by the time they happened, the current hour last." }),
  })
  .meta({ id: "ErrorDetail" });
export type ErrorDetail = z.infer<typeof ErrorDetail>;

export const ErrorList = z.object({ errors: z.array(ErrorSignature), total: z.number().int() });
export const OccurrenceList = z.object({
  occurrences: z.array(ErrorOccurrence),
  total: z.number().int().meta({ description: "How many of its events have their details and can be listed." }),
  counted: z.number().int().meta({ description: "How many events it has. More than `total` after a spike: then only some of a minute keep their details." }),
});

/** ISO 8601, a date alone too: it is midnight in UTC. */
const Bound = z.union([z.iso.datetime({ offset: true }), z.iso.date()], "must be ISO 8601, such as 2026-01-31 or 2026-01-31T12:00:00Z").transform((text) => new Date(text));

export const ErrorListQuery = z.strictObject({
  service_id: z.string().optional(),
  status: Status.optional(),
  environment: z.string().optional().meta({ description: "Errors with any event in it." }),
  release: z.string().optional().meta({ description: "Errors with any event in it." }),
  start_date: Bound.optional().meta({ description: "Errors with any event at this moment or later." }),
  end_date: Bound.optional().meta({ description: "Errors with any event at this moment or earlier; a date alone is its beginning." }),
  limit: limit(50, 100),
  offset: Offset,
});
export type ErrorListQuery = z.output<typeof ErrorListQuery>;

export const OccurrenceListQuery = z.strictObject({ limit: limit(50, 100), offset: Offset });

const SetStatus = z.enum(["new", "resolved", "ignored"]).meta({ description: "`regressed` is set by the service alone, when a resolved error happens again.", example: "resolved" });

export const ChangeErrorStatus = z
  .strictObject({
    status: SetStatus,
    resolved_in_release: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .nullish()
      .meta({ description: "With `resolved`: only an event in a release that comes after this one brings the error back.", example: "1.4.0" }),
    ignore_until: Timestamp.nullish().meta({ description: "With `ignored`: from this moment on it is `new` again.", example: "2027-01-31T00:00:00Z" }),
    ignore_until_occurrences: z.int().min(1).max(1_000_000_000).nullish().meta({ description: "With `ignored`: after this many more events it is `new` again.", example: 100 }),
  })
  .superRefine(({ status, ...conditions }, context) => {
    for (const [name, value] of Object.entries(conditions)) {
      const needed = name === "resolved_in_release" ? "resolved" : "ignored";
      if (value !== undefined && value !== null && status !== needed) context.addIssue({ code: "custom", message: `goes only with status ${needed}`, path: [name] });
    }
  })
  .meta({ id: "ChangeErrorStatus", example: { status: "resolved", resolved_in_release: "1.4.0" } });
export type ChangeErrorStatus = z.output<typeof ChangeErrorStatus>;

export const ChangeManyErrors = z
  .strictObject({ ids: z.array(z.string()).min(1).max(100).meta({ description: "At most 100. Those that do not exist are left out." }), status: SetStatus })
  .meta({ id: "ChangeManyErrors" });
export type ChangeManyErrors = z.output<typeof ChangeManyErrors>;

export const ManyErrorsChanged = z.object({ updated: z.int().meta({ description: "How many of them exist and have the status now.", example: 2 }) });

export const ErrorExportQuery = z.strictObject({
  format: z.enum(["json", "csv"]).default("csv"),
  environment: z.string().optional().meta({ description: "Errors with any event in it." }),
  priority: z.enum(PRIORITIES).optional(),
  category: z.enum(ERROR_CATEGORIES).optional(),
  start_date: Bound.optional().meta({ description: "Errors with any event at this moment or later." }),
  end_date: Bound.optional().meta({ description: "Errors with any event at this moment or earlier; a date alone is its beginning." }),
  limit: limit(1000, 10_000),
});
export type ErrorExportQuery = z.output<typeof ErrorExportQuery>;

const { id, message, type, occurrences, sessions_affected, first_seen, last_seen } = signatureFields;
const ExportedError = z.object({ id, message, type, occurrences, sessions_affected, first_seen, last_seen }).meta({ id: "ExportedError" });
export type ExportedError = z.infer<typeof ExportedError>;

export const ErrorExport = z.object({
  export: z.object({
    format: z.literal("json"),
    from: Timestamp.nullable().meta({ description: "`start_date`, else when the first of these errors was first seen; null when there is none." }),
    to: Timestamp.nullable().meta({ description: "`end_date`, else when the last of these errors was last seen; null when there is none." }),
    total_errors: z.int().meta({ description: "Error signatures in this export." }),
    total_occurrences: z.int().meta({ description: "All their events." }),
  }),
  errors: z.array(ExportedError).meta({ description: "Last seen first." }),
});
export type ErrorExport = z.infer<typeof ErrorExport>;

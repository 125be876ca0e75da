import { z } from "zod";
import { HeartbeatState, PingAnswer } from "../schemas/api/heartbeat-monitors.ts";
import { BeaconBody } from "../schemas/messages/beacon.ts";
import { MetricsPushAnswer, MetricsPushBody } from "../schemas/messages/metrics-push.ts";
import { PingBody } from "../schemas/messages/ping.ts";

/** The parts of an OpenAPI operation that are written here. */
export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: unknown[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

const TAG = "Ingest";
const KEY_SECURITY: Operation["security"] = [{ apiKey: [] }, { bearer: [] }];

const RejectedEvent = z.object({ index: z.int(), path: z.string(), error: z.string() });
const BeaconAnswer = z.object({ success: z.literal(true), accepted: z.int(), rejected: z.array(RejectedEvent).meta({ description: "Events that were not taken in, each with the place of its fault." }) });

const MONITOR = { name: "monitor", in: "path", required: true, description: "The heartbeat monitor's id or slug.", schema: { type: "string" } };

/**
 * The endpoints that the edge serves, which have no route here: described by hand from the schemas of the messages.
 * `failure` is the schema of error answers.
 */
export function describeIngest(failure: object): Record<string, Record<string, Operation>> {
  const refusals = (...statuses: string[]) => Object.fromEntries(statuses.map((status) => [status, json(REFUSALS[status]!, failure)]));
  return {
    "/api/beacon": {
      post: {
        operationId: "postBeacon",
        tags: [TAG],
        summary: "Report events of a browser",
        description: "Any content type is taken (`navigator.sendBeacon` sends text/plain); gzip is too; every origin may ask. The public beacon key in the body stands for the API key. There is no rate limit. Unknown fields are ignored. At most 256 KiB.",
        security: [],
        requestBody: { required: true, content: { "application/json": { schema: jsonSchema(BeaconBody) }, "text/plain": { schema: jsonSchema(BeaconBody) } } },
        responses: { "202": json("Taken in, durably.", jsonSchema(BeaconAnswer)), ...refusals("400", "401", "403", "413", "415", "503") },
      },
    },
    "/api/metrics/ingest": {
      post: {
        operationId: "postMetrics",
        tags: [TAG],
        summary: "Push a service's metrics",
        description: "The answer waits for the evaluation. With `Prefer: respond-async`, or when it takes too long, it is 202 and the evaluation follows. At most 64 KiB. Needs the scope `metrics:write`.",
        security: KEY_SECURITY,
        parameters: [{ name: "Prefer", in: "header", required: false, description: "`respond-async`: do not wait for the evaluation.", schema: { type: "string" } }],
        requestBody: { required: true, content: { "application/json": { schema: jsonSchema(MetricsPushBody) } } },
        responses: {
          "200": json("Evaluated.", jsonSchema(MetricsPushAnswer)),
          "202": json("Taken in, durably; it will be evaluated once.", jsonSchema(MetricsPushAnswer)),
          ...refusals("400", "401", "403", "404", "413", "415", "429", "503"),
        },
      },
    },
    "/api/heartbeat/{monitor}": {
      post: {
        operationId: "postHeartbeat",
        tags: [TAG],
        summary: "Ping a heartbeat monitor",
        description: "Without a body it is an `ok`. A text is one of the statuses or becomes the message; a form has the fields of the JSON object. At most 10 KiB. Needs the scope `heartbeat:write`.",
        security: KEY_SECURITY,
        parameters: [MONITOR],
        requestBody: { required: false, content: { "application/json": { schema: jsonSchema(PingBody) }, "text/plain": { schema: { type: "string" }, example: "3 files, 5 MB" } } },
        responses: { "200": json("Taken in, durably.", jsonSchema(PingAnswer)), ...refusals("400", "401", "403", "404", "413", "415", "429", "503") },
      },
      get: {
        operationId: "getHeartbeat",
        tags: [TAG],
        summary: "Ask how a heartbeat monitor is",
        description: "Needs the scope `heartbeat:write` or `monitors:read`.",
        security: KEY_SECURITY,
        parameters: [MONITOR],
        responses: { "200": json("The monitor's state and its last pings.", jsonSchema(HeartbeatState)), ...refusals("401", "403", "404", "429", "503") },
      },
    },
  };
}

const REFUSALS: Record<string, string> = {
  "400": "The body is not valid.",
  "401": "The key is missing, unknown, expired or revoked.",
  "403": "The key may not do this here.",
  "404": "There is no such thing in the key's organization.",
  "413": "The body is too large.",
  "415": "The body's encoding is not supported.",
  "429": "Too many requests in this minute.",
  "503": "Not taken in: try again after Retry-After.",
};

export function json(description: string, schema: object): object {
  return { description, content: { "application/json": { schema } } };
}

/** A reference to a schema that has a name of its own in the document, else the schema itself. */
export function jsonSchema(schema: z.ZodType): object {
  const id = schema.meta()?.id;
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` };
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

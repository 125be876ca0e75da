import type { FastifySchema } from "fastify";
import { z } from "zod";
import fastifySwagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { FAILURE_STATUS, type FailureCode } from "../platform/failures.ts";
import { FailureAnswer } from "../schemas/api/failure.ts";
import { describeIngest } from "./describe-ingest.ts";
import { describePages } from "./describe-pages.ts";
import { describeSubscribing } from "./describe-subscribing.ts";
import { finishDocument, OPTIONAL_BODY } from "./finish-document.ts";
import type { Route } from "./route.ts";

/** Failures that every endpoint can have; those of a body or a path only where there is one. */
const COMMON: readonly FailureCode[] = ["UNAUTHENTICATED", "INSUFFICIENT_SCOPE", "RATE_LIMITED", "INTERNAL", "UNAVAILABLE"];
const OF_INPUT: readonly FailureCode[] = ["INVALID_REQUEST"];
const OF_A_FORM: readonly FailureCode[] = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];
const OF_A_BODY: readonly FailureCode[] = ["INVALID_JSON", ...OF_A_FORM];
const OF_A_PATH: readonly FailureCode[] = ["NOT_FOUND"];
/** By its Idempotency-Key. */
const OF_A_POST: readonly FailureCode[] = ["IDEMPOTENCY_MISMATCH", "CONFLICT"];

/** Registers what collects the routes' schemas; before the routes. The document is `app.swagger()` once the app is ready. */
export async function registerOpenApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  await app.register(fastifySwagger, {
    // Pages, probes and forwarding have no tag and no place in the description.
    hideUntagged: true,
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Pharos",
        version: "1.0.0",
        description:
          "Status pages, monitoring and error tracking.\n\n" +
          "Every answer carries `X-Request-Id`, and `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (epoch seconds): of the key's limit, or of its organization's where that is tighter; all keys of an organization together have five times the limit of one. " +
          "An error answer says what is wrong (`error`), in one word for programs (`code`), where (`path`) and what to do about it (`fix`). " +
          "An id of another organization is answered like one that does not exist.",
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: baseUrl }],
      components: {
        securitySchemes: {
          apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key: psk_ and 40 characters." },
          bearer: { type: "http", scheme: "bearer", description: "The API key as a bearer token; only for metrics and heartbeats." },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject(document) {
      const described = jsonSchemaTransformObject(document);
      const failure = { $ref: "#/components/schemas/Failure" };
      return finishDocument({ ...described, paths: { ...described.paths, ...describeIngest(failure), ...describeSubscribing(failure), ...describePages() } });
    },
  } as FastifyDynamicSwaggerOptions);
}

/** A route's schema as Fastify validates by it and as its place in the document is made from it. */
export function schemaOf(route: Route): FastifySchema {
  const { body, form, params, query, tag, summary, description, status = 200, otherStatus, otherType } = route;
  const scopes = scopesOf(route).map((scope) => `\`${scope}\``).join(" or ");
  return {
    tags: [tag],
    summary,
    description: `${description ? `${description}\n\n` : ""}Needs the scope ${scopes}.`,
    operationId: operationId(route),
    security: [{ apiKey: [] }],
    ...(body !== undefined && { body }),
    ...(form !== undefined && { consumes: ["multipart/form-data"] }),
    ...(bodyIsOptional(route) && { [OPTIONAL_BODY]: true }),
    ...(params !== undefined && { params }),
    ...(query !== undefined && { querystring: query }),
    response: {
      [status]: { description: "Success.", content: { "application/json": { schema: route.response }, ...(otherType !== undefined && { [otherType]: { schema: z.string() } }) } },
      ...(otherStatus && { [otherStatus.status]: { description: otherStatus.description, content: { "application/json": { schema: route.response } } } }),
      ...failureAnswers(route),
    },
  };
}

/** The scopes of which one is enough. */
export function scopesOf({ scope }: Pick<Route, "scope">): readonly Exclude<Route["scope"], readonly unknown[]>[] {
  return typeof scope === "string" ? [scope] : scope;
}

/** Whether a request may come without its body: a POST of which nothing is required. An empty PATCH or PUT is a body that got lost. */
export function bodyIsOptional({ method, body }: Pick<Route, "method" | "body">): boolean {
  return method === "POST" && body !== undefined && (body as z.ZodType).safeParse({}).success;
}

/** Every code that this endpoint can refuse with. */
export function failureCodesOf({ method, body, form, params, query, failures = [] }: Route): ReadonlySet<FailureCode> {
  const isPost = method === "POST";
  const takesBody = isPost || body !== undefined;
  return new Set([...(takesBody || params || query ? OF_INPUT : []), ...(form ? OF_A_FORM : takesBody ? OF_A_BODY : []), ...(params ? OF_A_PATH : []), ...(isPost ? OF_A_POST : []), ...COMMON, ...failures]);
}

function failureAnswers(route: Route): Record<string, unknown> {
  const byStatus = new Map<number, FailureCode[]>();
  for (const code of failureCodesOf(route)) byStatus.set(FAILURE_STATUS[code], [...(byStatus.get(FAILURE_STATUS[code]) ?? []), code]);
  return Object.fromEntries([...byStatus].map(([status, named]) => [status, { description: named.join(", "), content: { "application/json": { schema: FailureAnswer } } }]));
}

/** `GET /status-pages/:id/services` → `getStatusPagesByIdServices`: the same as long as the address is. */
function operationId({ method, path }: Route): string {
  const words = path.split(/[/-]/).filter(Boolean).map((word) => (word.startsWith(":") ? `By${capital(word.slice(1))}` : capital(word)));
  return method.toLowerCase() + words.join("");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { ContentVersions } from "../domain/organizations/content-version.ts";
import { makeDayBudget, type DayBudget } from "../platform/day-budget.ts";
import { Failure } from "../platform/failures.ts";
import { makePlacesByOwner, type PlacesByOwner } from "../platform/places.ts";
import type { Tenants } from "../platform/postgres/tenants.ts";
import { CHANGES_PER_DAY } from "../schemas/plans.ts";
import type { Caller } from "./authenticate.ts";
import type { KeptAnswer } from "./answer-kept.ts";
import { explainIssues, pointer } from "./explain-issue.ts";
import { answerOnce, type SentAnswer } from "./idempotency.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import { bodyIsOptional, schemaOf } from "./openapi.ts";
import { BODY_LIMIT, parseBody, requireStorable, unpack } from "./read-body.ts";
import { registerForms } from "./read-form.ts";
import { requireFew } from "./require-few.ts";
import { isSpecialAnswer, type ControlPlaneNeeds, type Route } from "./route.ts";
import { sendStream } from "./send-stream.ts";

/** Requests of one organization that are worked on at a time; a process has ten connections for all. */
const AT_ONCE = 4;

interface Answering {
  needsOf(organizationId: string): ControlPlaneNeeds;
  kept: KeptAnswers<KeptAnswer>;
  changes: DayBudget;
  versions: ContentVersions;
  places: PlacesByOwner;
}

/** Registers each route with its validation. Bodies are JSON or forms, plain or gzipped. */
export function registerRoutes(api: FastifyInstance, { routes, tenants, versions, kept, ...others }: Omit<ControlPlaneNeeds, "database"> & { routes: readonly Route[]; tenants: Tenants; versions: ContentVersions; kept: KeptAnswers<KeptAnswer> }): void {
  const changes = makeDayBudget(others);
  const answering: Answering = {
    changes,
    // This is where a request is bound to its organization: no handler has another way to the database.
    needsOf: (organizationId) => ({ ...others, database: tenants.of(organizationId) }),
    kept,
    versions,
    places: makePlacesByOwner(AT_ONCE),
  };
  api.removeAllContentTypeParsers();
  api.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, bytes: Buffer) => {
    // Many clients name a content type with every request; where no body is required an empty one is none.
    const { route } = request.routeOptions.config;
    // Before it is read: what is refused for it counts like what is done.
    countBody(changes, request, bytes.length);
    return bytes.length === 0 && (!route?.body || bodyIsOptional(route)) ? undefined : parseBody(bytes);
  });
  registerForms(api);
  api.addHook("preParsing", async (request) => countChange(changes, request, 1));
  api.addHook("preParsing", async (request, _reply, payload) => unpack(payload as Parameters<typeof unpack>[0], request.headers["content-encoding"], bodyLimitOf(request.routeOptions.config.route)));
  api.setValidatorCompiler(({ schema, httpPart, method }) => (data: unknown) => validate(schema as z.ZodType, httpPart ?? "body", data, method));
  // The handler sends text; this is for Fastify, which wants a serializer for each described answer.
  api.setSerializerCompiler(() => (data) => JSON.stringify(data));

  for (const route of routes) {
    api.route({
      method: route.method,
      url: route.path,
      schema: schemaOf(route),
      config: { route },
      // What a form brings is measured part by part.
      ...(route.form && { bodyLimit: 2 * route.form.fileBytes }),
      handler: (request, reply) => answer(route, answering, request, reply),
    });
  }
}

const CHANGE_BYTES = 16 * 1024;

/** Of a JSON body, unpacked: each 16 KiB counts like a change. */
function countBody(changes: DayBudget, request: FastifyRequest, bytes: number): void {
  const amount = Math.floor(bytes / CHANGE_BYTES);
  if (amount > 0) countChange(changes, request, amount);
}

/**
 * Every change leaves something for good, be it a line in the audit log, and what is refused is work as well:
 * so there is a bound of them that only a program gone wild meets. RATE_LIMITED.
 */
function countChange(changes: DayBudget, { method, caller }: FastifyRequest, amount: number): void {
  if (!caller || method === "GET" || method === "HEAD") return;
  const perDay = CHANGES_PER_DAY[caller.plan];
  const retryAfter = changes.take(caller.actor.organizationId, amount, perDay);
  if (retryAfter === null) return;
  const sentence = `This organization sent the ${perDay.toLocaleString("en")} changes that the ${caller.plan} plan allows on a day.`;
  throw new Failure("RATE_LIMITED", sentence, { retryAfter, fix: "Wait until 00:00 UTC, or send fewer and smaller changes." });
}

/** What is kept for an Idempotency-Key takes room like a body. It is done by now: only later changes can be refused for it. */
function countKept(changes: DayBudget, { actor, plan }: Caller, bytes: number): void {
  changes.take(actor.organizationId, Math.floor(bytes / CHANGE_BYTES), CHANGES_PER_DAY[plan]);
}

/** Where an upload lies for now is no part of what was asked for. */
const withoutPath = (name: string, value: unknown): unknown => (name === "file" && typeof value === "object" && value !== null ? { ...value, path: undefined } : value);

/** Bytes of a packed body. */
function bodyLimitOf(route: Route | undefined): number {
  return route?.form ? route.form.fileBytes : BODY_LIMIT;
}

/** What a schema makes of a part of the request, or the failure that says what is wrong with it. */
function validate(schema: z.ZodType, part: string, data: unknown, method: string): { value: unknown } | { error: Error } {
  try {
    // Fastify gives null where no body came.
    const missing = part === "body" && (data === null || data === undefined);
    if (missing && schema.safeParse(undefined).success) return { value: undefined };
    if (missing && bodyIsOptional({ method: method as Route["method"], body: schema })) return { value: schema.parse({}) };
    if (missing) throw new Failure("INVALID_JSON", "The body is empty; a JSON object is required.", { fix: "Send a JSON object with Content-Type: application/json." });
    if (part === "querystring") requireStorable(requireOnce(data as Record<string, unknown>));
    if (part === "params" && Object.values(data as object).some((value) => String(value).includes("\0"))) throw new Failure("NOT_FOUND", "There is nothing at this address.");
    if (part === "body") requireFew(schema, data);
    const result = schema.safeParse(data, { reportInput: true });
    return result.success ? { value: result.data } : { error: explainIssues(schema, result.error.issues) };
  } catch (error) {
    return { error: error as Error };
  }
}

/** The query as it was given; INVALID_REQUEST for a parameter that came more than once. */
function requireOnce(query: Record<string, unknown>): Record<string, unknown> {
  const twice = Object.keys(query).find((name) => Array.isArray(query[name]));
  if (twice !== undefined) throw new Failure("INVALID_REQUEST", `The query parameter ${twice.slice(0, 100)} is given more than once.`, { path: pointer([twice]), fix: "Give it once." });
  return query;
}

const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };

type Sent = Omit<SentAnswer, "body"> & { body: string | Buffer };

async function answer(route: Route, { needsOf, kept, versions, changes, places }: Answering, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { caller, body, params, query } = request;
  // The hook before this never lets a stranger through; should it ever, nothing is done here.
  if (!caller) throw new Error("a route was reached without a caller");
  const needs = needsOf(caller.actor.organizationId);
  const run = async (needs: ControlPlaneNeeds): Promise<SentAnswer> => {
    const value = await route.handle({ body, params, query, actor: caller.actor, scopes: caller.scopes, needs } as Parameters<Route["handle"]>[0]);
    // Parsing keeps only what the description names, so nothing else of a row can leave.
    const show = (shown: unknown) => JSON.stringify((route.response as z.ZodType).parse(shown));
    const status = route.status ?? 200;
    if (!isSpecialAnswer(value)) return { status, body: show(value) };
    if ("chunks" in value) return { status, body: "", chunks: value.chunks, headers: { ...value.headers, "Content-Type": value.contentType } };
    return "text" in value ? { status, body: value.text, headers: { ...value.headers, "Content-Type": value.contentType } } : { status: value.status, body: show(value.value) };
  };
  const idempotencyKey = route.method === "POST" ? request.headers["idempotency-key"] : undefined;
  const sent: Sent = await (idempotencyKey === undefined && route.keptUntilChange ? findKept() : inPlace(() => (idempotencyKey === undefined ? run(needs) : runOnce(String(idempotencyKey)))));
  void reply.code(sent.status).headers({ ...JSON_TYPE, ...sent.headers });
  return sent.chunks ? sendStream(sent.chunks, request, reply, needs.log) : reply.send(sent.body);

  /** A place comes before a connection: who waits for a place must not hold what those who have one wait for. */
  function inPlace(work: () => Promise<SentAnswer>): Promise<SentAnswer> {
    return places.occupy(caller!.actor.organizationId, work);
  }

  async function findKept(): Promise<KeptAnswer> {
    const { organizationId } = caller!.actor;
    // Read before the answer is made: what changes in between gives it another version.
    const version = await versions.read(organizationId);
    return kept.find(organizationId, request.url, version, async () => {
      const { status, body, headers } = await inPlace(() => run(needs));
      return { status, headers: { ...JSON_TYPE, ...headers }, body: Buffer.from(body) };
    });
  }

  async function runOnce(idempotencyKey: string): Promise<SentAnswer> {
    const { organizationId, id } = caller!.actor;
    const call = { idempotencyKey, apiKey: String(request.headers["x-api-key"]), apiKeyId: id!, organizationId, requestId: request.id, route, request: `${request.method} ${request.url} ${JSON.stringify(body, withoutPath)}` };
    const { replayed, ...sent } = await answerOnce(call, needs, run);
    if (replayed) void reply.header("Idempotency-Replayed", "true");
    else countKept(changes, caller!, Buffer.byteLength(sent.body));
    return sent;
  }
}

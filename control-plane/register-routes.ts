import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { Failure } from "../platform/failures.ts";
import { explainIssues } from "./explain-issue.ts";
import { schemaOf } from "./openapi.ts";
import { parseBody, requireStorable, unpack } from "./read-body.ts";
import type { ControlPlaneNeeds, Route } from "./route.ts";

/** Registers each route with its validation. Bodies are JSON, plain or gzipped. */
export function registerRoutes(api: FastifyInstance, { routes, ...needs }: ControlPlaneNeeds & { routes: readonly Route[] }): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, bytes: Buffer) => {
    // Many clients name a content type with every request; where no body is expected an empty one is none.
    return bytes.length === 0 && !request.routeOptions.config.route?.body ? undefined : parseBody(bytes);
  });
  api.addHook("preParsing", async (request, _reply, payload) => unpack(payload as Parameters<typeof unpack>[0], request.headers["content-encoding"]));
  api.setValidatorCompiler(({ schema, httpPart }) => (data: unknown) => validate(schema as z.ZodType, httpPart ?? "body", data));
  // The handler sends text; this is for Fastify, which wants a serializer for each described answer.
  api.setSerializerCompiler(() => (data) => JSON.stringify(data));

  for (const route of routes) {
    api.route({
      method: route.method,
      url: route.path,
      schema: schemaOf(route),
      config: { route },
      handler: (request, reply) => answer(route, needs, request, reply),
    });
  }
}

/** What a schema makes of a part of the request, or the failure that says what is wrong with it. */
function validate(schema: z.ZodType, part: string, data: unknown): { value: unknown } | { error: Error } {
  try {
    // Fastify gives null where no body came.
    if (part === "body" && (data === null || data === undefined)) throw new Failure("INVALID_JSON", "The body is empty; a JSON object is required.", { fix: "Send a JSON object with Content-Type: application/json." });
    if (part === "querystring") requireStorable(data);
    if (part === "params" && Object.values(data as object).some((value) => String(value).includes("\0"))) throw new Failure("NOT_FOUND", "There is nothing at this address.");
    const result = schema.safeParse(data, { reportInput: true });
    return result.success ? { value: result.data } : { error: explainIssues(schema, result.error.issues) };
  } catch (error) {
    return { error: error as Error };
  }
}

async function answer(route: Route, needs: ControlPlaneNeeds, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { caller, body, params, query } = request;
  // The hook before this never lets a stranger through; should it ever, nothing is done here.
  if (!caller) throw new Error("a route was reached without a caller");
  const value = await route.handle({ body, params, query, actor: caller.actor, scopes: caller.scopes, needs } as Parameters<Route["handle"]>[0]);
  // Parsing keeps only what the description names, so nothing else of a row can leave.
  const shown = (route.response as z.ZodType).parse(value);
  return reply.code(route.status ?? 200).header("Content-Type", "application/json; charset=utf-8").send(JSON.stringify(shown));
}

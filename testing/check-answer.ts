import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { z } from "zod";
import { failureCodesOf } from "../control-plane/openapi.ts";
import type { Route } from "../control-plane/route.ts";
import { API_ROOT } from "../control-plane/route-table.ts";
import { FAILURE_STATUS, type FailureCode } from "../platform/failures.ts";
import { FailureAnswer } from "../schemas/api/failure.ts";

const StrictFailure = z.strictObject(FailureAnswer.shape);

/** From now on each injected request below /api/v1 fails its test when its answer is not one that the route declares. */
export function checkAnswers(app: FastifyInstance, routes: readonly Route[]): void {
  const inject = app.inject.bind(app) as (options: InjectOptions) => Promise<LightMyRequestResponse>;
  app.inject = (async (options: InjectOptions) => {
    const response = await inject(options);
    const path = typeof options.url === "string" ? options.url.split("?")[0]!.replace(/\/$/, "") : "";
    const fault = path.startsWith(`${API_ROOT}/`) && options.method !== "HEAD" ? faultOf(routeAt(routes, String(options.method), path), response) : null;
    if (fault) throw new Error(`${options.method} ${path} answered ${response.statusCode}, ${fault}:\n${response.body.slice(0, 2_000)}`);
    return response;
  }) as typeof app.inject;
}

/** The router prefers a fixed word to a parameter; so does this. */
function routeAt(routes: readonly Route[], method: string, path: string): Route | undefined {
  const matching = routes.filter((route) => route.method === method && new RegExp(`^${API_ROOT}${route.path.replace(/:[a-zA-Z]+/g, "[^/]+")}$`).test(path));
  return matching.toSorted((a, b) => a.path.split(":").length - b.path.split(":").length)[0];
}

/** What is wrong with an answer, or null. */
function faultOf(route: Route | undefined, response: LightMyRequestResponse): string | null {
  const type = String(response.headers["content-type"]);
  if (response.statusCode >= 400) return failureFault(route, response);
  if (response.raw.req.method === "OPTIONS") return response.statusCode === 204 && response.headers.allow !== undefined ? null : "which does not tell the methods that are offered";
  if (!route) return "which no route declares";
  const { status = 200, otherStatus, otherType } = route;
  if (response.statusCode !== status && response.statusCode !== otherStatus?.status) return "which the route does not declare";
  if (!type.startsWith("application/json")) return otherType !== undefined && type.startsWith(otherType) ? null : `with the type ${type}, which the route does not declare`;
  const body = response.json<unknown>();
  const parsed = (route.response as z.ZodType).safeParse(body);
  if (!parsed.success) return `with a body that its schema refuses (${parsed.error.message})`;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(parsed.data)), body) ? null : "with more than its schema names";
}

function failureFault(route: Route | undefined, response: LightMyRequestResponse): string | null {
  const parsed = StrictFailure.safeParse(response.json());
  if (!parsed.success) return "with a body that is not the shape of every error";
  const code = parsed.data.code as FailureCode;
  if (FAILURE_STATUS[code] !== response.statusCode) return `with a code of another status`;
  // An address that cannot be decoded, or is too long, never reaches its route.
  if (!route || code === "NOT_FOUND" || code === "INVALID_REQUEST") return null;
  return failureCodesOf(route).has(code) ? null : `whose code the route does not declare (add it to \`failures\`)`;
}

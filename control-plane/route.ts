import type { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import type { IndexFile } from "../domain/source-maps/upload.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import type { FailureCode } from "../platform/failures.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import type { ResolveTxt } from "../platform/resolve-txt.ts";
import type { Scope } from "../schemas/vocabulary.ts";

/** What handlers may use. */
export interface ControlPlaneNeeds {
  /** Holds the caller's organization alone, whatever a query asks for. */
  database: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  config: Config;
  log: Log;
  indexSourceMap: IndexFile;
  resolveTxt: ResolveTxt;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

export interface RouteContext<Body, Params, Query> {
  body: Parsed<Body>;
  params: Parsed<Params>;
  query: Parsed<Query>;
  actor: Actor;
  /** What the caller's key may do. */
  scopes: readonly string[];
  needs: ControlPlaneNeeds;
}

const SPECIAL = Symbol("special answer");

/** An answer beside the usual one: the same shape with another status, or text of another type, whole or as it comes. */
export type SpecialAnswer<Value> = { [SPECIAL]: true } & ({ status: 200 | 201 | 202; value: Value } | { contentType: string; headers: Record<string, string>; text: string } | { contentType: string; headers: Record<string, string>; chunks: AsyncIterable<string> });

/** The usual answer with the status that the route declares as `otherStatus`. */
export function withStatus<Value>(status: 200 | 201 | 202, value: Value): SpecialAnswer<Value> {
  return { [SPECIAL]: true, status, value };
}

/** Text as it comes, for what is too large to be held: JSON, or of the type that the route declares as `otherType`; of a GET that is not kept. What fails before the first of it should fail in the handler, where it still becomes an answer. */
export function asStream(contentType: string, chunks: AsyncIterable<string>, headers: Record<string, string> = {}): SpecialAnswer<never> {
  return { [SPECIAL]: true, contentType, headers, chunks };
}

/** The usual answer, already written as JSON; the domain that wrote it answers for its shape. */
export function asJson(text: string): SpecialAnswer<never> {
  return { [SPECIAL]: true, contentType: "application/json; charset=utf-8", headers: {}, text };
}

export function isSpecialAnswer(answer: unknown): answer is SpecialAnswer<unknown> {
  return typeof answer === "object" && answer !== null && SPECIAL in answer;
}

/**
 * One endpoint below `/api/v1`: everything that its registration, its validation and its place in the
 * OpenAPI document need. `:name` in the path is a path parameter; each that is an id is a `PathId`.
 */
export interface Route<Body = unknown, Params = unknown, Query = unknown, Response = unknown> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: `/${string}`;
  /** One of these scopes is enough; the first is named in the refusal. */
  scope: Scope | readonly Scope[];
  /** Groups operations in the OpenAPI document. */
  tag: string;
  summary: string;
  description?: string;
  /** Strict: an unknown field is refused with its path. */
  body?: Body;
  /** The body is a form (multipart/form-data) with a file of so many bytes at most in its field `file`. */
  form?: { fileBytes: number };
  params?: Params;
  query?: Query;
  response: Response;
  /** Status of success; 200 unless given. */
  status?: 200 | 201 | 202;
  /** A second status of success, given by `withStatus`. */
  otherStatus?: { status: 200 | 201 | 202; description: string };
  /** A second type of answer beside JSON, given by `asStream`; such as `text/csv`. */
  otherType?: string;
  /** Failures of this endpoint beside those that every endpoint has (400, 401, 403 scope, 404, 429, 5xx). */
  failures?: readonly FailureCode[];
  /**
   * For a POST whose handler waits for others to act on what it wrote, or speaks to the outside: with an Idempotency-Key
   * it then keeps its own transactions, and a crash between them and the record of the answer lets it run again.
   */
  commitsEarly?: boolean;
  /**
   * For a GET whose answer follows from the organization's services, incidents and default thresholds alone: it is kept, and
   * given again for the same query until one of them changes.
   */
  keptUntilChange?: boolean;
  handle(context: RouteContext<Body, Params, Query>): Promise<unknown>;
}

/** Declares an endpoint; the handler's types follow from the schemas. */
export function route<
  Response extends z.ZodType,
  Body extends z.ZodType | undefined = undefined,
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
>(
  definition: Omit<Route<Body, Params, Query, Response>, "handle"> & {
    handle(context: RouteContext<Body, Params, Query>): Promise<z.input<Response> | SpecialAnswer<z.input<Response>>>;
  },
): Route {
  return definition;
}

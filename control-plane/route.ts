import type { z } from "zod";
import type { Actor } from "../domain/actor.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import type { FailureCode } from "../platform/failures.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import type { Scope } from "../schemas/vocabulary.ts";

/** What handlers may use; made once by `main.ts`. */
export interface ControlPlaneNeeds {
  database: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  config: Config;
  log: Log;
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
  params?: Params;
  query?: Query;
  response: Response;
  /** Status of success; 200 unless given. */
  status?: 200 | 201 | 202;
  /** Failures of this endpoint beside those that every endpoint has (400, 401, 403 scope, 404, 429, 5xx). */
  failures?: readonly FailureCode[];
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
    handle(context: RouteContext<Body, Params, Query>): Promise<z.input<Response>>;
  },
): Route {
  return definition;
}

import type { Route } from "./route.ts";

/** Below this path stands everything that needs an API key. */
export const API_ROOT = "/api/v1";

/** Which methods a path of the API offers. */
export interface RouteTable {
  /** In the order of declaration; empty for a path that nothing answers. */
  methodsAt(path: string): string[];
}

/** Answers what the router does not tell: whether an address exists for another method (405) or not at all (404). */
export function makeRouteTable(routes: readonly Pick<Route, "method" | "path">[]): RouteTable {
  const patterns = routes.map(({ method, path }) => ({ method, pattern: new RegExp(`^${API_ROOT}${path.replace(/:[a-zA-Z]+/g, "[^/]+")}$`) }));
  return {
    methodsAt(path) {
      const methods = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
      return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
    },
  };
}

/** Below this path stands everything that needs an API key. */
export const API_ROOT = "/api/v1";

/** Which methods a path offers. */
export interface RouteTable {
  /** Notes a route: its methods and its path as Fastify takes it. */
  add(methods: readonly string[], path: string): void;
  /** In the order of declaration; empty for a path that nothing answers. */
  methodsAt(path: string): string[];
}

/** Answers what the router does not tell: whether an address exists for another method (405) or not at all (404). */
export function makeRouteTable(): RouteTable {
  const patterns: { methods: readonly string[]; pattern: RegExp }[] = [];
  return {
    add: (methods, path) => void patterns.push({ methods, pattern: patternOf(path) }),
    methodsAt: (path) => [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))],
  };
}

/** `:name` and `:name(expression)` stand for one step of a path, `*` for all that follows. */
function patternOf(path: string): RegExp {
  const written = path.replace(/:\w+(\([^)]*\))?/g, ":").replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${written.replaceAll(":", "[^/]+").replaceAll("*", ".*")}$`);
}

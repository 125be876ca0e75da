import type { Answer, HostileTenant } from "./hostile-tenant.ts";

/** One way to try to harm others. */
export interface HostileWay {
  kind: string;
  name: string;
  /** Of the tenant that tries it: a smaller plan has less to try with. */
  plan: "free" | "pro";
  /** What every answer must look like: status, a space, and the body. */
  holds: RegExp;
  run(tenant: HostileTenant): Promise<Answer | Answer[]>;
}

/** Ways of one kind, from rows of name, what must hold, and how it is done. */
export function waysOf(kind: string, plan: HostileWay["plan"], rows: readonly (readonly [name: string, holds: RegExp, run: HostileWay["run"]])[]): HostileWay[] {
  return rows.map(([name, holds, run]) => ({ kind, plan, name, holds, run }));
}

/** So many at once. */
export function times<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => make(n)));
}

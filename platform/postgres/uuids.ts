import { sql, type SQL } from "drizzle-orm";

/** Ids as one parameter, for `= any(…)`: a statement takes 65,535 parameters, and each costs. */
export function uuids(ids: Iterable<string>): SQL {
  return sql`${`{${[...ids].join(",")}}`}::uuid[]`;
}

import { Failure } from "../../platform/failures.ts";
import { UPDATES_OF_ONE } from "../../schemas/plans.ts";

/** Pure: PLAN_LIMIT when an incident or a maintenance window has so many updates that it gets no more. */
export function requireFewUpdates(what: "incident" | "maintenance window", existing: number): void {
  if (existing < UPDATES_OF_ONE) return;
  throw new Failure("PLAN_LIMIT", `The ${what} has ${UPDATES_OF_ONE.toLocaleString("en")} updates, the most that one can have.`, { fix: `Change its status without a message, or make another ${what}.` });
}

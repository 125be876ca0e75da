import { StartFailure } from "../start-failure.ts";

/** A cursor beyond its partition's end: the log lost what was counted already, and would number new records anew. */
export function beyondEnd(name: string, wanted: number | bigint, end: number | bigint): StartFailure {
  return new StartFailure(`The event log ends before the place up to which it was processed: ${name} ends at ${end}, the next record to read is ${wanted}.`, {
    fix: "The log was replaced by an older or emptied copy. Bring the right one back, or put the log and the databases back to the same backup.",
  });
}

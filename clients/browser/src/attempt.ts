import { MAX_WARNINGS } from "./limits.ts";

/** What `work` gives, or undefined when it throws. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

let warnings = 0;

/** Tells the page's developer, who hears the same ten times over at most. */
export function warn(what: unknown): void {
  // The page may have put anything in the console's place.
  if (warnings++ < MAX_WARNINGS) attempt(() => console.warn("Pharos:", what));
}

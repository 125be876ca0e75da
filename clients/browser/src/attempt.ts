import { MAX_WARNINGS } from "./limits.ts";

/** What `work` gives, or undefined when it throws. */
export function attempt<Result>(work: () => Result, otherwise?: (error: unknown) => void): Result | undefined {
  try {
    return work();
  } catch (error) {
    otherwise?.(error);
    return undefined;
  }
}

let warnings = 0;

/** Tells the page's developer, who hears the same ten times over at most. */
export function warn(what: unknown): void {
  if (warnings++ < MAX_WARNINGS) console.warn("Pharos:", what);
}

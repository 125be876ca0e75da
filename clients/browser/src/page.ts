import { attempt, warn } from "./attempt.ts";
import type { PharosOptions, PharosUser } from "./options.ts";

// A page has one SDK in it, whose state is that of its modules: names that a minifier shortens, where the fields of objects would stay.

interface Settings extends Omit<PharosOptions, "user"> {
  tags: NonNullable<PharosOptions["tags"]>;
  user?: PharosUser | null | undefined;
}

/** As given to `init`, with what was set since. Null while nothing is reported. */
export let options: Settings | null = null;

export function setOptions(given: PharosOptions | null): void {
  options = given && { ...given, tags: { ...given.tags } };
}

/** A URL as it may be told: what follows the path can be anybody's secret. */
export function shown(url: string): string {
  return options!.queryStrings ? url : url.replace(/[?#].*/s, "");
}

let inside = false;

/**
 * Makes `work` safe to be called by the page or the browser: it never throws but warns, does nothing while nothing is to be reported, and what happens
 * inside (an error of our own, a `beforeSend` that calls us back) does not enter a second time. Only doors are guarded; what they call must
 * not be, or it would not run.
 */
export function guarded<Given extends unknown[], Result>(work: (...given: Given) => Result): (...given: Given) => Result | undefined {
  return (...given) => {
    if (inside || !options) return undefined;
    try {
      inside = true;
      return work(...given);
    } catch (error) {
      warn(error);
      return undefined;
    } finally {
      inside = false;
    }
  };
}

/** Listens on the window, before anything in the page can stop the event. */
export function listen(type: string, listener: (event: Event) => unknown): void {
  addEventListener(type, guarded(listener), true);
}

/**
 * Has `note` called after each call of a function of the page's: with the result, what was given, and the object it was called on. What it
 * returns replaces the result. Where the object refuses, nothing is noted.
 */
export function after(holder: object, name: string, note: (result: unknown, given: unknown[], self: unknown) => unknown): void {
  const place = holder as Record<string, (...given: unknown[]) => unknown>;
  const original = place[name]!;
  const safe = guarded(note);
  attempt(() => {
    place[name] = function (this: unknown, ...given: unknown[]): unknown {
      const result = original.apply(this, given);
      return safe(result, given, this) ?? result;
    };
  });
}

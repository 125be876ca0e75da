import type { ErrorFacts } from "./event.ts";
import { LONGEST_MESSAGE, MAX_CAUSES, MAX_FRAMES } from "./limits.ts";

/**
 * What a thrown value tells. Anything can be thrown: texts, frozen objects, proxies that throw at every touch. Of an object that is no error
 * only the names of its fields are told, for the values may be a visitor's. `type` is for what is no error.
 */
export function normaliseError(thrown: unknown, type: string): ErrorFacts {
  const facts: ErrorFacts = { error_type: type, message: "Unreadable error" };
  try {
    const { name, message, stack } = Object(thrown) as Record<string, unknown>;
    if (typeof message === "string") {
      facts.message = message;
      if (typeof name === "string") facts.error_type = name;
      if (typeof stack === "string") facts.stack = cutStack(stack, message);
    } else facts.message = Object(thrown) === thrown ? `Object with ${Object.keys(thrown as object).join()}` : String(thrown);
    facts.message = facts.message.slice(0, LONGEST_MESSAGE);
  } catch {
    // What was read until then is told.
  }
  return facts;
}

/** What caused the error, nearest first. */
export function causesOf(thrown: unknown): ErrorFacts[] {
  const causes: ErrorFacts[] = [];
  const seen = [thrown];
  try {
    for (let { cause } = thrown as Error; cause && !seen.includes(cause) && seen.length <= MAX_CAUSES; { cause } = cause as Error) {
      seen.push(cause);
      causes.push(normaliseError(cause, "Error"));
    }
  } catch {
    // A getter that throws ends the chain.
  }
  return causes;
}

/** The script that this code came as: the frames of functions that it put in the page's place are not the page's. */
let ownScript = "\n";

export function leaveOut(script: string): void {
  ownScript = script;
}

/** Of the page as it was opened: frames of its own scripts name it. */
const query = location.search || "\0";

/** V8 repeats the message, however long it is, above the frames. Of these the innermost and the outermost half are kept. */
function cutStack(stack: string, message: string): string {
  const end = message && stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  const lines = stack.slice(end).split("\n").filter((line) => !line.includes(ownScript));
  if (lines.length > MAX_FRAMES) lines.splice(MAX_FRAMES / 2, lines.length - MAX_FRAMES);
  return stack.slice(0, Math.min(end, LONGEST_MESSAGE)) + lines.join("\n").split(query).join("");
}

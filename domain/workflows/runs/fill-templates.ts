/** What placeholders stand for in one run. */
export interface Scope {
  inputs: Record<string, unknown>;
  /** The event that started the run; null when none did. */
  event: { data: Record<string, unknown> } | null;
  /** What steps with a name gave. */
  steps: Record<string, Record<string, unknown>>;
}

/** Why a step cannot be carried out: a sentence for the workflow's owner. */
export class StepFailure extends Error {}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const ALONE = /^\{\{([^{}]*)\}\}$/;
const LONGEST = 100_000;

/**
 * A text with its placeholders filled in: nothing is evaluated, and what is filled in is not looked at for placeholders again. Texts stand as they are,
 * numbers and booleans as they are written, null as nothing, everything else as JSON. `encode` is applied to each value. StepFailure for a placeholder
 * that stands for nothing in this run, and for a text of more than 100,000 characters.
 */
export function fillText(template: string, scope: Scope, encode: (value: string) => string = (value) => value): string {
  const text = template.replaceAll(PLACEHOLDER, (_, expression: string) => encode(textOf(valueOf(expression.trim(), scope))));
  if (text.length > LONGEST) throw new StepFailure(`A text grew to more than ${LONGEST.toLocaleString("en")} characters when its placeholders were filled in.`);
  return text;
}

/** As `fillText`, for every text within a value; a text that is one placeholder and nothing else becomes what that stands for, of whatever type. */
export function fillValue(template: unknown, scope: Scope): unknown {
  if (typeof template === "string") {
    const [, expression] = ALONE.exec(template) ?? [];
    return expression === undefined ? fillText(template, scope) : valueOf(expression.trim(), scope);
  }
  if (Array.isArray(template)) return template.map((each) => fillValue(each, scope));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fillValue(value, scope)]));
}

/** As `fillText`, for a URL: what is filled in behind its beginning is percent-encoded, so that it stays the one part that it stands for. */
export function fillUrl(template: string, scope: Scope): string {
  const [first = ""] = /^\{\{[^{}]*\}\}/.exec(template) ?? [];
  return fillText(first, scope) + fillText(template.slice(first.length), scope, encodePart);
}

/** Dots alone stay dots however they are encoded (WHATWG URL), and would lead to another path. */
function encodePart(value: string): string {
  if (value === "." || value === "..") throw new StepFailure(`"${value}" cannot be a part of a URL.`);
  return encodeURIComponent(value);
}

/** Own fields only: nothing that objects have by nature is ever reached. */
function valueOf(expression: string, { inputs, event, steps }: Scope): unknown {
  let value: unknown = { inputs, ...(event && { event: { data: event.data } }), steps };
  for (const field of expression.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) throw new StepFailure(`{{${expression}}} stands for nothing in this run.`);
    value = (value as Record<string, unknown>)[field];
  }
  return value;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

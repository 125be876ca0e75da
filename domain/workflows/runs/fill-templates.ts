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
const USUAL_BYTES = 100_000;

/** Fills in the placeholders of one step. Nothing is evaluated, and what is filled in is not looked at for placeholders again. */
export interface TemplateFiller {
  /** A text: texts stand as they are, numbers and booleans as they are written, null as nothing, everything else as JSON. */
  text(template: string): string;
  /** As `text`, for every text within a value; a text that is one placeholder and nothing else becomes what that stands for, of whatever type. */
  value(template: unknown): unknown;
  /** As `text`, for a URL: what is filled in behind its beginning is percent-encoded, so that it stays the one part that it stands for. */
  url(template: string): string;
}

/**
 * A filler for one step. All that it fills in has `mostBytes` together (UTF-8, values as JSON), counted before it is put together: a template of a
 * few bytes can stand for a large value many times. Each function throws StepFailure past that, and for a placeholder that stands for nothing in this run.
 */
export function makeTemplateFiller(scope: Scope, mostBytes = USUAL_BYTES): TemplateFiller {
  let left = mostBytes;
  function take(text: string): string {
    left -= Buffer.byteLength(text);
    if (left < 0) throw new StepFailure(`The step grew to more than ${mostBytes.toLocaleString("en")} bytes when its placeholders were filled in.`);
    return text;
  }
  function text(template: string, encode: (value: string) => string = (value) => value): string {
    take(template.replaceAll(PLACEHOLDER, ""));
    return template.replaceAll(PLACEHOLDER, (_, expression: string) => take(encode(textOf(valueOf(expression.trim(), scope)))));
  }
  function alone(expression: string): unknown {
    const value = valueOf(expression.trim(), scope);
    take(JSON.stringify(value));
    return value;
  }
  function value(template: unknown): unknown {
    if (typeof template === "string") {
      const [, expression] = ALONE.exec(template) ?? [];
      return expression === undefined ? text(template) : alone(expression);
    }
    if (Array.isArray(template)) return template.map(value);
    if (typeof template !== "object" || template === null) return template;
    return Object.fromEntries(Object.entries(template).map(([name, inner]) => [name, value(inner)]));
  }
  function url(template: string): string {
    const [first = ""] = /^\{\{[^{}]*\}\}/.exec(template) ?? [];
    return text(first) + text(template.slice(first.length), encodePart);
  }
  return { text: (template) => text(template), value, url };
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

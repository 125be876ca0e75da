import type { z } from "zod";
import { Failure } from "../platform/failures.ts";

type Issue = z.core.$ZodIssue;

/** INVALID_REQUEST for one thing that is wrong, with its place and, where one is near, what was probably meant. */
export function explainIssues(schema: z.ZodType, issues: readonly Issue[]): Failure {
  // A mistyped field is also a missing one; the typing is what has to be told.
  const unknown = issues.find(({ code }) => code === "unrecognized_keys");
  if (unknown?.code === "unrecognized_keys") return unknownField(schema, unknown);
  const issue = issues[0]!;
  // Of a union's branches the one that came furthest says best what was meant.
  if (issue.code === "invalid_union") {
    const allowed = allowedBy(issue);
    if (allowed) return explainIssues(schema, [{ ...allowed, path: issue.path }]);
    const branch = issue.errors.toSorted((a, b) => closeness(b) - closeness(a))[0];
    if (branch?.[0] && closeness(branch) > 0) return explainIssues(schema, branch.map((inner) => Object.assign({}, inner, { path: [...issue.path, ...inner.path] })));
  }
  const name = fieldName(issue.path);
  const fix = issue.code === "invalid_value" && typeof issue.input === "string" ? didYouMean(issue.input, issue.values.map(String)) : undefined;
  return new Failure("INVALID_REQUEST", `${name} ${complaint(issue)}.`, { path: pointer(issue.path), ...(fix !== undefined && { fix }) });
}

/** A union whose branches differ by one field's value, or are nothing but values, is a choice between values. */
function allowedBy(issue: Extract<Issue, { code: "invalid_union" }>): z.core.$ZodIssueInvalidValue | null {
  const { errors, discriminator, input } = issue;
  if (discriminator !== undefined && "options" in issue && Array.isArray(issue.options)) {
    return { code: "invalid_value", values: issue.options, input: (input as Record<string, unknown>)[discriminator], path: [], message: "" };
  }
  const ofValues = errors.flat().flatMap((inner) => (inner.code === "invalid_value" && inner.path.length === 0 ? [inner] : []));
  return ofValues.length > 0 && ofValues.length === errors.length ? { code: "invalid_value", values: ofValues.flatMap(({ values }) => values), input, path: [], message: "" } : null;
}

/** A JSON Pointer (RFC 6901). */
export function pointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** How far into a union's branch a value came: 0 when it is of another type altogether. */
function closeness([first]: readonly Issue[]): number {
  if (!first) return 0;
  return first.path.length > 0 ? 1 + first.path.length : Number(first.code !== "invalid_type");
}

function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "The body";
  return path.reduce<string>((name, step) => (typeof step === "number" ? `${name}[${step}]` : name === "" ? String(step) : `${name}.${String(step)}`), "");
}

const TYPES: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const FORMATS: Record<string, string> = {
  uuid: "must be a UUID",
  datetime: "must be an ISO 8601 time such as 2026-05-04T12:30:00Z",
  url: "must be a URL",
  email: "must be an e-mail address",
};

/** The rest of a sentence that begins with the field. */
function complaint(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return issue.input === undefined ? "is required" : `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return bound(issue, "least", Number(issue.minimum), issue.inclusive ?? true);
    case "too_big":
      return bound(issue, "most", Number(issue.maximum), issue.inclusive ?? true);
    case "invalid_format":
      return FORMATS[issue.format] ?? own(issue.message);
    case "invalid_union":
      return issue.input === undefined && issue.errors.length > 0 ? "is required" : (ofTypes(issue.errors) ?? own(issue.message));
    case "invalid_key":
      return "is no name that is allowed here";
    default:
      return own(issue.message);
  }
}

/** What a value may be where a union's branches differ only in their type. */
function ofTypes(errors: readonly (readonly Issue[])[]): string | undefined {
  const types = errors.flatMap(([first]) => (first?.code === "invalid_type" ? [TYPES[first.expected] ?? first.expected] : []));
  return types.length > 1 && types.length === errors.length ? `must be ${types.slice(0, -1).join(", ")} or ${types.at(-1)}` : undefined;
}

function bound({ origin, message }: { origin: string; message: string }, side: "least" | "most", figure: number, inclusive: boolean): string {
  if (!/^Too (small|big)/.test(message)) return own(message);
  if (origin === "string") return side === "least" && figure === 1 ? "must not be empty" : `must have at ${side} ${figure} characters`;
  if (origin === "array" || origin === "set") return `must hold at ${side} ${figure} ${figure === 1 ? "entry" : "entries"}`;
  if (!inclusive) return `must be ${side === "least" ? "more" : "less"} than ${figure}`;
  return `must be at ${side} ${figure}`;
}

/** Messages written for a schema read on from the field's name; the library's own are sentences of their own. */
function own(message: string): string {
  return /^[a-z]/.test(message) ? message.replace(/\.$/, "") : `is not valid: ${message.replace(/\.$/, "")}`;
}

function unknownField(schema: z.ZodType, issue: Extract<Issue, { code: "unrecognized_keys" }>): Failure {
  const unknown = issue.keys[0]!;
  const known = fieldsAt(schema, issue.path, issue.input);
  const fix = didYouMean(unknown, known) ?? (known.length > 0 ? `Its fields are ${known.join(", ")}.` : undefined);
  return new Failure("INVALID_REQUEST", `There is no field "${unknown.slice(0, 100)}".`, { path: pointer([...issue.path, unknown]), ...(fix !== undefined && { fix }) });
}

/** Names of the fields that `input` may have at this place of a schema; of a union's branches, those of the kind that it says to be. Empty when that cannot be told. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[], input: unknown): string[] {
  const definition = definitionOf(schema);
  if (!definition) return [];
  const { innerType, in: before, getter, options, shape, element, keyType, valueType } = definition;
  const wrapped = innerType ?? before ?? getter?.();
  if (wrapped) return fieldsAt(wrapped, path, input);
  const [step, ...rest] = path;
  if (options) {
    const ofKind = step === undefined ? options.filter((option) => isOfKind(option, definition.discriminator, input)) : [];
    return [...new Set((ofKind.length > 0 ? ofKind : options).flatMap((option) => fieldsAt(option, path, input)))];
  }
  if (step !== undefined) return fieldsAt(shape?.[String(step)] ?? element ?? valueType, rest, input);
  return shape ? Object.keys(shape) : Object.values(definitionOf(keyType)?.entries ?? {}).map(String);
}

/** Whether an option of a union is the one that `input` says to be. */
export function isOfKind(option: unknown, discriminator: string | undefined, input: unknown): boolean {
  if (discriminator === undefined || typeof input !== "object" || input === null) return false;
  return definitionOf(definitionOf(option)?.shape?.[discriminator])?.values?.includes((input as Record<string, unknown>)[discriminator]) ?? false;
}

interface Definition {
  innerType?: unknown;
  in?: unknown;
  /** Of what refers to itself. */
  getter?: () => unknown;
  options?: unknown[];
  /** Of a union: the field that tells its branches apart. */
  discriminator?: string;
  shape?: Record<string, unknown>;
  element?: unknown;
  keyType?: unknown;
  valueType?: unknown;
  /** Of a literal. */
  values?: unknown[];
  /** Of an enum. */
  entries?: Record<string, unknown>;
}

/** What the library keeps of a schema. */
export function definitionOf(schema: unknown): Definition | undefined {
  return (schema as { def?: Definition } | undefined)?.def;
}

function didYouMean(given: string, known: readonly string[]): string | undefined {
  if (given.length > 100) return undefined;
  const [nearest] = known.map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) })).toSorted((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= Math.max(1, Math.floor(nearest.name.length / 3)) ? `Did you mean "${nearest.name}"?` : undefined;
}

/** Single characters inserted, deleted or replaced, or two neighbours swapped (Damerau and Levenshtein, restricted). */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = rows[row - 1]![column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1] ? rows[row - 2]![column - 2]! + 1 : Infinity;
      current.push(Math.min(rows[row - 1]![column]! + 1, current[column - 1]! + 1, replaced, swapped));
    }
    rows.push(current);
  }
  return rows[a.length]![b.length]!;
}

import { z } from "zod";
import type { Failure } from "../platform/failures.ts";
import { definitionOf, explainIssues, isOfKind } from "./explain-issue.ts";

/** Entries of a body's lists and records together, for nested lists may each be within their own. */
const MOST_ENTRIES = 10_000;

/**
 * INVALID_REQUEST for a list or a record that holds more than its schema allows. To be asked before the
 * body is validated: validation looks at every entry first, and keeps a complaint about each.
 */
export function requireFew(schema: z.ZodType, body: unknown): void {
  let seen = 0;
  look(schema, body, []);

  function look(part: unknown, value: unknown, path: readonly PropertyKey[]): void {
    const definition = definitionOf(part);
    if (!definition || typeof value !== "object" || value === null) return;
    const { innerType, in: before, getter, options, discriminator, shape } = definition;
    const wrapped = innerType ?? before ?? getter?.();
    if (wrapped) return look(wrapped, value, path);
    if (options) {
      for (const option of options) {
        if (discriminator === undefined || isOfKind(option, discriminator, value)) look(option, value, path);
      }
    } else if (shape) {
      for (const [name, inner] of Object.entries(shape)) {
        look(inner, (value as Record<string, unknown>)[name], [...path, name]);
      }
    } else {
      lookAtEach(part as z.ZodType, value, path);
    }
  }

  function lookAtEach(part: z.ZodType, value: object, path: readonly PropertyKey[]): void {
    const { element, valueType } = definitionOf(part)!;
    const isList = Array.isArray(value);
    const inner = isList ? element : valueType;
    if (inner === undefined) return;
    const names = isList ? null : Object.keys(value);
    const size = names?.length ?? (value as unknown[]).length;
    const most = isList ? mostOf(part) : z.globalRegistry.get(part)?.["maxProperties"];
    if (typeof most === "number" && size > most) throw tooMany(most, path);
    // What may be anything is taken as it comes.
    if (inner instanceof z.ZodUnknown) return;
    seen += size;
    if (seen > MOST_ENTRIES) throw tooMany(MOST_ENTRIES, path);
    for (const place of names ?? (value as unknown[]).keys()) {
      look(inner, (value as Record<PropertyKey, unknown>)[place], [...path, place]);
    }
  }

  function tooMany(most: number, path: readonly PropertyKey[]): Failure {
    const issue = { code: "too_big", origin: "array", maximum: most, inclusive: true } as const;
    return explainIssues(schema, [{ ...issue, path: [...path], message: "Too big" }]);
  }
}

/** Of a list's `max`. */
function mostOf(list: z.ZodType): number | undefined {
  const checks = (list.def.checks ?? []).map((check) => check._zod.def as { check: string; maximum?: number });
  return checks.find(({ check }) => check === "max_length")?.maximum;
}

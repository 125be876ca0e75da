import type { ConditionStep } from "../../../schemas/api/workflows.ts";
import { StepFailure } from "./fill-templates.ts";

/**
 * Whether a condition holds. Texts and values of other types are equal when they are written alike; `gt` and `lt` compare numbers, also written as texts;
 * `contains` looks for a text in a text, or for a member of a list. StepFailure for what cannot be compared so.
 */
export function compare(left: unknown, op: ConditionStep["op"], right: unknown): boolean {
  if (op === "eq") return written(left) === written(right);
  if (op === "ne") return written(left) !== written(right);
  if (op === "contains") {
    if (Array.isArray(left)) return left.some((member) => written(member) === written(right));
    if (typeof left === "string") return left.includes(written(right));
    throw new StepFailure(`contains looks in a text or a list, not in ${kindOf(left)}.`);
  }
  const [a, b] = [numberOf(left, op), numberOf(right, op)];
  return op === "gt" ? a > b : a < b;
}

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function numberOf(value: unknown, op: string): number {
  const number = typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) throw new StepFailure(`${op} compares numbers, and ${typeof value === "string" ? `"${value.slice(0, 100)}"` : kindOf(value)} is none.`);
  return number;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

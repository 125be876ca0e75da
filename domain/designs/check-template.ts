import type { Design, DesignIssue } from "../../schemas/api/designs.ts";
import { SECTION_TYPES } from "../../schemas/vocabulary.ts";
import { findUnsafeCss } from "./check-css.ts";
import { findUnsafeHtml } from "./check-html.ts";

/** Of one kind; who made so many faults does not read them all. */
const MAX_ISSUES = 20;

/** What is wrong with a template; whatever is found here is an error. */
export function findTemplateIssues({ html, css }: NonNullable<Design["template"]>): DesignIssue[] {
  return [
    ...issues("UNKNOWN_PLACEHOLDER", "/template/html", findUnknownPlaceholders(html)),
    ...issues("UNSAFE_HTML", "/template/html", findUnsafeHtml(html)),
    ...issues("UNSAFE_CSS", "/template/css", css === undefined ? [] : findUnsafeCss(css)),
  ];
}

function findUnknownPlaceholders(html: string): string[] {
  const names = new Set([...html.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name]) => name!.trim()));
  const unknown = [...names].filter((name) => !(SECTION_TYPES as readonly string[]).includes(name));
  return unknown.map((name) => `There is no section for {{${name.slice(0, 60)}}}; sections are ${SECTION_TYPES.join(", ")}.`);
}

function issues(code: DesignIssue["code"], path: string, messages: readonly string[]): DesignIssue[] {
  return messages.slice(0, MAX_ISSUES).map((message) => ({ path, code, message, severity: "error" }));
}

import { Failure } from "../../platform/failures.ts";
import type { Design, DesignIssue } from "../../schemas/api/designs.ts";
import { AA_CONTRAST, contrastRatio, normalColor } from "./contrast.ts";
import { findTemplateIssues } from "./check-template.ts";

/** Sections without which a page does not tell whose it is or how things are. */
const EXPECTED_SECTIONS = ["header", "overall_status"] as const;

/** Pure: everything that is wrong with a design (errors) or unwise in it (warnings), with JSON Pointers into it (conventions §4). */
export function findIssues({ theme_tokens: { brand }, layout: { sections }, template, template_mode: mode }: Design): { errors: DesignIssue[]; warnings: DesignIssue[] } {
  const found = [
    ...colorIssues("primary", brand.primary),
    ...colorIssues("secondary", brand.secondary),
    ...sectionIssues(sections),
    ...(template ? findTemplateIssues(template) : []),
    ...(mode === "custom" && !template ? [error("/template", "TEMPLATE_REQUIRED", "The template mode custom needs a template.")] : []),
    ...(mode === "default" && template ? [warning("/template_mode", "TEMPLATE_UNUSED", "A template is stored, but the template mode default does not show it.")] : []),
  ];
  return { errors: found.filter(({ severity }) => severity === "error"), warnings: found.filter(({ severity }) => severity === "warning") };
}

/** The warnings of a design without errors; INVALID_DESIGN for one that has some. */
export function requireValid(design: Design): DesignIssue[] {
  const { errors, warnings } = findIssues(design);
  const [first] = errors;
  if (!first) return warnings;
  const more = errors.length === 1 ? "" : ` There are ${errors.length - 1} more.`;
  throw new Failure("INVALID_DESIGN", `The design is not valid: ${first.message}${more}`, { path: first.path, issues: errors, fix: "Correct what issues names; POST …/design/draft/validate tells all issues without saving." });
}

/**
 * A brand color carries white text in buttons and in the header, and is the color of links on the light page; both
 * are its contrast with white. In the dark theme the page lightens it by itself.
 */
function colorIssues(name: "primary" | "secondary", text: string): DesignIssue[] {
  const path = `/theme_tokens/brand/${name}`;
  const color = normalColor(text);
  if (color === null) return [error(path, "INVALID_COLOR", `The ${name} color must be #rgb or #rrggbb.`)];
  const ratio = contrastRatio(color, "#ffffff");
  // Cut, not rounded: 4.499 must not read as 4.50.
  return ratio >= AA_CONTRAST ? [] : [warning(path, "LOW_CONTRAST", `White on ${color} has a contrast of ${(Math.floor(ratio * 100) / 100).toFixed(2)}:1; WCAG AA asks for ${AA_CONTRAST}:1.`)];
}

function sectionIssues(sections: Design["layout"]["sections"]): DesignIssue[] {
  const first = new Map<string, number>();
  const issues: DesignIssue[] = [];
  for (const [at, { type }] of sections.entries()) {
    if (first.has(type)) issues.push(error(`/layout/sections/${at}/type`, "DUPLICATE_SECTION", `The section ${type} stands there already, at ${first.get(type)}.`));
    else first.set(type, at);
  }
  if (!sections.some(({ enabled }) => enabled)) return [...issues, error("/layout/sections", "NO_SECTION_ENABLED", "No section is enabled; the page would be empty.")];
  for (const type of EXPECTED_SECTIONS) {
    if (sections.some((section) => section.type === type && section.enabled)) continue;
    const at = first.get(type);
    issues.push(warning(at === undefined ? "/layout/sections" : `/layout/sections/${at}/enabled`, "SECTION_DISABLED", `The section ${type} is not shown.`));
  }
  return issues;
}

function error(path: string, code: DesignIssue["code"], message: string): DesignIssue {
  return { path, code, message, severity: "error" };
}

function warning(path: string, code: DesignIssue["code"], message: string): DesignIssue {
  return { path, code, message, severity: "warning" };
}

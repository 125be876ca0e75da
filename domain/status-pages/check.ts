import { Failure } from "../../platform/failures.ts";
import type { CreateStatusPage, UpdateStatusPage } from "../../schemas/api/status-pages.ts";
import type { Plan } from "../../schemas/vocabulary.ts";
import { findUnsafeCss } from "../designs/check-css.ts";
import { findUnsafeHtml } from "../designs/check-html.ts";
import { findTemplateIssues } from "../designs/check-template.ts";
import { requirePlan } from "../organizations/require-plan.ts";
import type { StatusPageRow } from "./columns.ts";
import { decideFeatures } from "./decide-features.ts";

/** PLAN_RESTRICTED for the first thing that a request asks for and the plan lacks. `existing`: the page before, if any. */
export function checkFeatures(plan: Plan, given: CreateStatusPage | UpdateStatusPage, existing: StatusPageRow | null): void {
  for (const { field, feature } of decideFeatures(given, existing)) requirePlan(plan, feature, `/${field}`);
}

/** INVALID_REQUEST for a page, as it would become, that keeps everybody out. */
export function checkAccess({ visibility, passwordHash, allowedIps }: Partial<Pick<StatusPageRow, "visibility" | "passwordHash" | "allowedIps">>): void {
  if (visibility === "password" && !passwordHash) {
    throw new Failure("INVALID_REQUEST", "A page with visibility password needs a password.", { path: "/status_page_password", fix: "Send status_page_password, or choose another status_page_visibility." });
  }
  if (visibility === "ip_restricted" && !allowedIps?.length) {
    throw new Failure("INVALID_REQUEST", "A page with visibility ip_restricted needs addresses that may see it.", { path: "/allowed_ips", fix: "Send allowed_ips with at least one CIDR range, or choose another status_page_visibility." });
  }
}

/** INVALID_REQUEST for the first text of a request that a page could not carry safely: the same is refused as in a design's template. */
export function checkMarkup(given: Pick<UpdateStatusPage, "custom_css" | "custom_header_html" | "custom_footer_html" | "custom_template">): void {
  const { custom_css: css, custom_header_html: header, custom_footer_html: footer, custom_template: template } = given;
  refuseUnsafe("/custom_css", findUnsafeCss(css ?? ""), FIX_CSS);
  refuseUnsafe("/custom_header_html", findUnsafeHtml(header ?? ""), FIX_HTML);
  refuseUnsafe("/custom_footer_html", findUnsafeHtml(footer ?? ""), FIX_HTML);
  for (const { path, message } of template ? findTemplateIssues(template) : []) refuseUnsafe(`/custom_template${path.replace("/template", "")}`, [message], path.endsWith("css") ? FIX_CSS : FIX_HTML);
}

const FIX_CSS = "Leave out @import, addresses that do not begin with https:// and whatever cannot be read.";
const FIX_HTML = "Leave out scripts, styles, forms and embedded content; a page holds only text, structure, links and images.";

function refuseUnsafe(path: string, [first, ...more]: readonly string[], fix: string): void {
  if (first !== undefined) throw new Failure("INVALID_REQUEST", more.length === 0 ? first : `${first} There are ${more.length} more.`, { path, fix });
}

/** What a unique index of the table says, for people. */
const TAKEN: Record<string, (given: CreateStatusPage | UpdateStatusPage) => Failure> = {
  status_pages_slug_unique: ({ slug }) => new Failure("SLUG_TAKEN", `The slug "${slug}" belongs to another page.`, { path: "/slug", fix: "Choose another slug." }),
  status_pages_domain_verified: ({ custom_domain: domain }) =>
    new Failure("CONFLICT", `The domain ${domain} belongs to another page.`, { path: "/custom_domain", fix: "Choose another domain, or remove it from that page first. A page whose DNS record is gone loses it within three days." }),
};

/** SLUG_TAKEN or CONFLICT for an error of Postgres that means it; any other error stays as it is. */
export function explainTaken(error: unknown, given: CreateStatusPage | UpdateStatusPage): unknown {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const explain = "constraint" in cause ? TAKEN[String(cause.constraint)] : undefined;
    if (explain) return explain(given);
  }
  return error;
}

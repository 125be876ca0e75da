import { Failure } from "../../platform/failures.ts";
import { FEATURE_PLANS, type GatedFeature } from "../../schemas/plans.ts";
import { PLANS, type Plan } from "../../schemas/vocabulary.ts";

/** Names for people, as the beginning of a sentence. */
const NAMES: Record<GatedFeature, string> = {
  password_visibility: "A page behind a password",
  ip_restricted_visibility: "A page for chosen addresses",
  private_visibility: "A private page",
  custom_css: "Custom CSS",
  custom_html: "Custom HTML",
  custom_template: "A custom template",
  custom_domain: "A custom domain",
  hidden_branding: "Hidden branding",
  source_maps: "Uploading source maps",
};

/** PLAN_RESTRICTED, naming the plan that would allow it, when a plan lacks a feature. `path`: where the request asks for it. */
export function requirePlan(plan: Plan, feature: GatedFeature, path?: string): void {
  const needed = FEATURE_PLANS[feature];
  if (PLANS.indexOf(plan) >= PLANS.indexOf(needed)) return;
  const larger = PLANS.slice(PLANS.indexOf(needed)).join(" or the ");
  throw new Failure("PLAN_RESTRICTED", `${NAMES[feature]} needs the ${needed} plan; this organization has the ${plan} plan.`, {
    ...(path !== undefined && { path }),
    fix: `Change to the ${larger} plan, or do without.`,
  });
}

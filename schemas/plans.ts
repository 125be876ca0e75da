import type { Plan } from "./vocabulary.ts";

/** How many of each a plan allows (conventions §1, §13). */
export const PLAN_LIMITS = {
  status_pages: { free: 1, pro: 5, team: 50 },
  services: { free: 25, pro: 250, team: 2500 },
  monitors: { free: 20, pro: 200, team: 2000 },
  webhooks: { free: 5, pro: 50, team: 500 },
  channels: { free: 5, pro: 50, team: 500 },
  api_keys: { free: 10, pro: 50, team: 500 },
  beacon_keys: { free: 50, pro: 500, team: 5000 },
  workflows: { free: 5, pro: 50, team: 500 },
} as const satisfies Record<string, Record<Plan, number>>;
export type LimitedResource = keyof typeof PLAN_LIMITS;

/** How many subscribers one status page may have. */
export const SUBSCRIBERS_A_PAGE = { free: 250, pro: 5_000, team: 100_000 } as const satisfies Record<Plan, number>;

/** How many requests to confirm a subscription an organization's pages send in a day (UTC). */
export const CONFIRMATIONS_A_DAY = { free: 250, pro: 2_500, team: 25_000 } as const satisfies Record<Plan, number>;

/** For how many days a plan keeps events, samples, pings, check results and deliveries at most (conventions §13). */
export const RETENTION_DAYS = { free: 30, pro: 180, team: 730 } as const satisfies Record<Plan, number>;

/** The smallest plan that has each gated feature; the larger ones have it too (conventions §1, §13). */
export const FEATURE_PLANS = {
  password_visibility: "pro",
  ip_restricted_visibility: "pro",
  private_visibility: "team",
  custom_css: "pro",
  custom_html: "pro",
  custom_template: "pro",
  custom_domain: "pro",
  hidden_branding: "pro",
  source_maps: "pro",
} as const satisfies Record<string, Plan>;
export type GatedFeature = keyof typeof FEATURE_PLANS;

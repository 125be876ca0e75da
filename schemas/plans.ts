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

/** Runs of workflows that an organization has carried out at the same time, by all processes together; the others wait. */
export const WORKFLOW_RUNS_AT_ONCE = { free: 5, pro: 20, team: 100 } as const satisfies Record<Plan, number>;

/** Steps of workflows that an organization has carried out on a day (UTC), tries of a request among them. */
export const WORKFLOW_STEPS_PER_DAY = { free: 10_000, pro: 200_000, team: 10_000_000 } as const satisfies Record<Plan, number>;

/** What an organization may send to change something on a day (UTC), counted by each control plane: requests, and one more for each 16 KiB of a body. */
export const CHANGES_PER_DAY = { free: 10_000, pro: 200_000, team: 10_000_000 } as const satisfies Record<Plan, number>;

/** Incidents that people, scripts and workflows of an organization may open in 24 hours. */
export const INCIDENTS_PER_DAY = { free: 1_000, pro: 10_000, team: 1_000_000 } as const satisfies Record<Plan, number>;

/** Runs of a workflow that are kept after they ended, the newest, within the 30 days for which any is. */
export const WORKFLOW_RUNS_KEPT = { free: 2_000, pro: 10_000, team: 50_000 } as const satisfies Record<Plan, number>;

/** Whatever the plan: updates of an incident or a maintenance window; a page's design versions, the newest. */
export const UPDATES_OF_ONE = 1_000;
export const DESIGN_VERSIONS_KEPT = 100;

/**
 * How much of the updates of incidents or of maintenance windows an answer shows: the newest of each one, in number and
 * in bytes of text, and bytes of all in a list. JSON at most doubles the bytes: the answer to a change stays below what
 * is kept for an Idempotency-Key.
 */
export const UPDATES_SHOWN = { number: 100, bytesOfOne: 96 * 1024, bytesOfAll: 1024 * 1024 } as const;

const GIB = 1024 ** 3;

/** Bytes that an organization's source maps may take as they are stored (`domain/source-maps/require-storage.ts`). */
export const SOURCE_MAP_STORAGE_BYTES = { free: 0, pro: 5 * GIB, team: 50 * GIB } as const satisfies Record<Plan, number>;

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

import { DEFAULT_THRESHOLDS, type Thresholds } from "../../schemas/thresholds.ts";

/** The thresholds that a service's pushes are judged by: its own, else its organization's, else the specification's. */
export function effectiveThresholds(own: Thresholds | null, ofOrganization: Thresholds | null): Thresholds {
  return own ?? ofOrganization ?? DEFAULT_THRESHOLDS;
}

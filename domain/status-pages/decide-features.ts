import { isDeepStrictEqual } from "node:util";
import type { CreateStatusPage, UpdateStatusPage } from "../../schemas/api/status-pages.ts";
import type { GatedFeature } from "../../schemas/plans.ts";
import type { PageVisibility } from "../../schemas/vocabulary.ts";
import { columnsOf, type StatusPageRow } from "./columns.ts";

/** Visibilities that not every plan has (conventions §1). */
const OF_VISIBILITY: Record<PageVisibility, GatedFeature | null> = {
  public: null,
  unlisted: null,
  password: "password_visibility",
  ip_restricted: "ip_restricted_visibility",
  private: "private_visibility",
};

const GATED = [
  { column: "customCss", field: "custom_css", feature: "custom_css" },
  { column: "customHeaderHtml", field: "custom_header_html", feature: "custom_html" },
  { column: "customFooterHtml", field: "custom_footer_html", feature: "custom_html" },
  { column: "customTemplate", field: "custom_template", feature: "custom_template" },
  { column: "hideBranding", field: "hide_branding", feature: "hidden_branding" },
] as const satisfies { column: keyof StatusPageRow; field: keyof UpdateStatusPage; feature: GatedFeature }[];

/**
 * Pure: the gated features that a request begins to use, and the field that does. What a page has already, from the
 * days of a larger plan, may be sent again as it is; emptying a field is always allowed.
 */
export function decideFeatures(given: CreateStatusPage | UpdateStatusPage, existing: StatusPageRow | null): { field: string; feature: GatedFeature }[] {
  const columns = columnsOf(given);
  const claims = given.custom_domain && given.custom_domain !== existing?.customDomain;
  const used: { field: string; feature: GatedFeature }[] = GATED.filter(({ column }) => Boolean(columns[column]) && !isDeepStrictEqual(columns[column], existing?.[column]));
  const feature = columns.visibility && columns.visibility !== existing?.visibility ? OF_VISIBILITY[columns.visibility] : null;
  return [...(feature ? [{ field: "status_page_visibility", feature }] : []), ...(claims ? [{ field: "custom_domain", feature: "custom_domain" as const }] : []), ...used.map(({ field, feature }) => ({ field, feature }))];
}

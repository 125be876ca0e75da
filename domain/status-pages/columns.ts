import type { CreateStatusPage, StatusPage, StatusPageSummary, UpdateStatusPage } from "../../schemas/api/status-pages.ts";
import type { statusPages } from "../../schemas/tables/all.ts";
import { domainRecord } from "./custom-domain.ts";

export type StatusPageRow = typeof statusPages.$inferSelect;
type Columns = Partial<Omit<StatusPageRow, "id" | "organizationId" | "createdAt">>;

/**
 * What a request gives, by column. The password is not among it: it is kept as a hash; nor is `is_default`, which moves,
 * and the domain, which is claimed (`claimDomain`).
 */
export function columnsOf(given: CreateStatusPage | UpdateStatusPage): Columns {
  return {
    name: given.name,
    slug: given.slug,
    logoUrl: given.logo_url,
    primaryColor: given.primary_color,
    secondaryColor: given.secondary_color,
    faviconUrl: given.favicon_url,
    tagline: given.tagline,
    themeMode: given.theme_mode,
    statusPageTheme: given.status_page_theme,
    customCss: given.custom_css,
    customHeaderHtml: given.custom_header_html,
    customFooterHtml: given.custom_footer_html,
    hideBranding: given.hide_branding,
    visibility: given.status_page_visibility,
    passwordHint: given.status_page_password_hint,
    allowedIps: given.allowed_ips && [...new Set(given.allowed_ips)],
    announcementText: given.announcement_text,
    announcementType: given.announcement_type,
    announcementEnabled: given.announcement_enabled,
    language: given.status_page_language,
    matchVisitorLanguage: given.match_visitor_language,
    fontFamily: given.font_family,
    showSubscribeForm: given.show_subscribe_form,
    showIncidentHistory: given.show_incident_history,
    showUptimeGraph: given.show_uptime_graph,
    headerStyle: given.header_style,
    borderRadius: given.border_radius,
    customTemplate: given.custom_template,
  };
}

/** As the API shows a page: without its password and the addresses that may see it. */
export function showStatusPage(row: StatusPageRow): StatusPage {
  return {
    ...showSummary(row),
    organization_id: row.organizationId,
    custom_domain_status: row.customDomainStatus,
    custom_domain_record: domainRecord(row),
    logo_url: row.logoUrl,
    favicon_url: row.faviconUrl,
    primary_color: row.primaryColor,
    secondary_color: row.secondaryColor,
    tagline: row.tagline,
    theme_mode: row.themeMode,
    status_page_theme: row.statusPageTheme,
    custom_css: row.customCss,
    custom_header_html: row.customHeaderHtml,
    custom_footer_html: row.customFooterHtml,
    hide_branding: row.hideBranding,
    status_page_password_hint: row.passwordHint,
    announcement_text: row.announcementText,
    announcement_type: row.announcementType,
    announcement_enabled: row.announcementEnabled,
    status_page_language: row.language as StatusPage["status_page_language"],
    match_visitor_language: row.matchVisitorLanguage,
    font_family: row.fontFamily,
    show_subscribe_form: row.showSubscribeForm,
    show_incident_history: row.showIncidentHistory,
    show_uptime_graph: row.showUptimeGraph,
    header_style: row.headerStyle,
    border_radius: row.borderRadius,
    custom_template: row.customTemplate,
  };
}

export function showSummary(row: StatusPageRow): StatusPageSummary {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    custom_domain: row.customDomain,
    status_page_visibility: row.visibility,
    is_default: row.isDefault,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/**
 * As the audit log keeps a page: also who may see it. The password's hash stands there only to be compared with the one
 * before or after; the log masks it by its name, like every secret.
 */
export function auditedStatusPage(row: StatusPageRow): Record<string, unknown> {
  return { ...showStatusPage(row), allowed_ips: row.allowedIps, status_page_password: row.passwordHash };
}

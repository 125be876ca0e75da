import { boolean, index, integer, jsonb, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { ANNOUNCEMENT_TYPES, BORDER_RADII, DESIGN_STATES, DOMAIN_STATUSES, FONT_FAMILIES, HEADER_STYLES, PAGE_THEMES, PAGE_VISIBILITIES, TEMPLATE_MODES, THEME_MODES } from "../vocabulary.ts";
import { bytea, moment, organizations } from "./organizations.ts";
import { services } from "./services.ts";

export const themeMode = pgEnum("theme_mode", THEME_MODES);
export const pageTheme = pgEnum("page_theme", PAGE_THEMES);
export const pageVisibility = pgEnum("page_visibility", PAGE_VISIBILITIES);
export const announcementType = pgEnum("announcement_type", ANNOUNCEMENT_TYPES);
export const fontFamily = pgEnum("font_family", FONT_FAMILIES);
export const headerStyle = pgEnum("header_style", HEADER_STYLES);
export const borderRadius = pgEnum("border_radius", BORDER_RADII);
export const designState = pgEnum("design_state", DESIGN_STATES);
export const domainStatus = pgEnum("domain_status", DOMAIN_STATUSES);

export const templateMode = pgEnum("template_mode", TEMPLATE_MODES);

/** The password is kept as argon2id only; colors are stored as #rrggbb. */
export const statusPages = pgTable(
  "status_pages",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    slug: text("slug").notNull().unique(),
    customDomain: text("custom_domain"),
    /** Null while there is no domain. */
    customDomainStatus: domainStatus("custom_domain_status"),
    customDomainClaimedAt: moment("custom_domain_claimed_at"),
    /** When the name service last had an answer about its proof. */
    customDomainCheckedAt: moment("custom_domain_checked_at"),
    /** Since when the proof of a verified domain is gone. */
    customDomainFailingSince: moment("custom_domain_failing_since"),
    logoUrl: text("logo_url"),
    primaryColor: text("primary_color").notNull().default("#2563eb"),
    secondaryColor: text("secondary_color").notNull().default("#1e293b"),
    faviconUrl: text("favicon_url"),
    tagline: text("tagline"),
    themeMode: themeMode("theme_mode").notNull().default("system"),
    statusPageTheme: pageTheme("status_page_theme").notNull().default("classic"),
    customCss: text("custom_css"),
    customHeaderHtml: text("custom_header_html"),
    customFooterHtml: text("custom_footer_html"),
    hideBranding: boolean("hide_branding").notNull().default(false),
    visibility: pageVisibility("status_page_visibility").notNull().default("public"),
    passwordHash: text("status_page_password_hash"),
    passwordHint: text("status_page_password_hint"),
    allowedIps: text("allowed_ips").array(),
    /** Signs the links to a private page and the passes of who gave the password; a new one makes all earlier ones worthless. */
    accessLinkSecret: bytea("access_link_secret").notNull().default(sql`decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`),
    /** Signs the links to drafts, likewise. */
    previewLinkSecret: bytea("preview_link_secret").notNull().default(sql`decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`),
    announcementText: text("announcement_text"),
    announcementType: announcementType("announcement_type").notNull().default("info"),
    announcementEnabled: boolean("announcement_enabled").notNull().default(false),
    language: text("status_page_language").notNull().default("en"),
    matchVisitorLanguage: boolean("match_visitor_language").notNull().default(false),
    fontFamily: fontFamily("font_family").notNull().default("system"),
    showSubscribeForm: boolean("show_subscribe_form").notNull().default(true),
    showIncidentHistory: boolean("show_incident_history").notNull().default(true),
    showUptimeGraph: boolean("show_uptime_graph").notNull().default(true),
    headerStyle: headerStyle("header_style").notNull().default("left"),
    borderRadius: borderRadius("border_radius").notNull().default("md"),
    customTemplate: jsonb("custom_template").$type<{ html: string; css?: string }>(),
    isDefault: boolean("is_default").notNull().default(false),
    currentVersionId: uuid("current_version_id"),
    draftVersionId: uuid("draft_version_id"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("status_pages_organization").on(table.organizationId),
    // Any number may claim a domain; one has it.
    uniqueIndex("status_pages_domain_verified").on(table.customDomain).where(sql`custom_domain_status = 'verified'`),
    uniqueIndex("status_pages_one_default").on(table.organizationId).where(sql`is_default`),
  ],
);

/** Wrong passwords that a client gave for a page, since the last hour without one or the right one. Bounded by page, forgotten by age. */
export const passwordTries = pgTable(
  "password_tries",
  {
    statusPageId: uuid("status_page_id").notNull().references(() => statusPages.id, { onDelete: "cascade" }),
    organizationId: uuid("organization_id").notNull(),
    /** An IPv4 address or the /64 of an IPv6 address. */
    client: text("client").notNull(),
    wrong: integer("wrong").notNull(),
    lastWrongAt: moment("last_wrong_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.statusPageId, table.client] }), index("password_tries_page").on(table.statusPageId, table.lastWrongAt), index("password_tries_old").on(table.lastWrongAt)],
);

export const statusPageServices = pgTable(
  "status_page_services",
  {
    organizationId: uuid("organization_id").notNull(),
    statusPageId: uuid("status_page_id").notNull().references(() => statusPages.id, { onDelete: "cascade" }),
    serviceId: uuid("service_id").notNull().references(() => services.id, { onDelete: "cascade" }),
    displayOrder: integer("display_order").notNull(),
  },
  (table) => [primaryKey({ columns: [table.statusPageId, table.serviceId] })],
);

/**
 * States: draft (one at a time, the page's draft_version_id) → published (one at a time, current_version_id) → archived.
 * A restored version is copied into the draft; versions never change once published.
 */
export const designVersions = pgTable(
  "design_versions",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    statusPageId: uuid("status_page_id").notNull().references(() => statusPages.id, { onDelete: "cascade" }),
    versionNumber: integer("version_number").notNull(),
    state: designState("state").notNull(),
    baseVersionId: uuid("base_version_id"),
    themeTokens: jsonb("theme_tokens").$type<{ brand: { primary: string; secondary: string }; font: { family: string } }>().notNull(),
    layout: jsonb("layout").$type<{ sections: { type: string; enabled: boolean }[] }>().notNull(),
    template: jsonb("template").$type<{ html: string; css?: string }>(),
    templateMode: templateMode("template_mode").notNull(),
    summary: text("summary"),
    createdBy: text("created_by").notNull(),
    createdAt: moment("created_at").notNull(),
    publishedAt: moment("published_at"),
  },
  (table) => [
    uniqueIndex("design_versions_number").on(table.statusPageId, table.versionNumber),
    uniqueIndex("design_versions_one_draft").on(table.statusPageId).where(sql`state = 'draft'`),
    uniqueIndex("design_versions_one_published").on(table.statusPageId).where(sql`state = 'published'`),
  ],
);

import { domainToASCII } from "node:url";
import { z } from "zod";
import { ANNOUNCEMENT_TYPES, BORDER_RADII, DOMAIN_STATUSES, FONT_FAMILIES, HEADER_STYLES, PAGE_LANGUAGES, PAGE_THEMES, PAGE_VISIBILITIES, SERVICE_STATUSES, THEME_MODES } from "../vocabulary.ts";
import { normaliseRange } from "../address-range.ts";
import { asHtmlReads } from "../html-text.ts";
import { FreeText, limit, Name, Offset, Timestamp } from "./shared.ts";

/** Bytes of each of a page's own CSS, HTML and template texts. */
const MAX_MARKUP_BYTES = 65_536;

/** Characters of a page's password at least. */
const MIN_PASSWORD_LENGTH = 8;

const HOST_NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** Pages are also found by their id: nobody may stand where another page's id leads. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/, "must be 3 to 63 lower-case letters, digits and inner dashes")
  .refine((slug) => !UUID.test(slug), "must not look like an id")
  .meta({ description: "The public page stands at /pages/{slug}; no two pages have the same.", example: "acme" });

const Color = z
  .string()
  .regex(/^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, "must be a color such as #2563eb or #25e")
  .transform((text) => (text.length === 4 ? text.replace(/[^#]/g, "$&$&") : text).toLowerCase())
  .meta({ description: "`#rgb` or `#rrggbb`; kept and answered as `#rrggbb`.", example: "#2563eb" });

const ImageUrl = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^\s"'<>\\]+$/i, "must be an http or https URL")
  .refine((text) => URL.canParse(text), "must be a valid URL")
  .nullable();

const HostName = z
  .string()
  .max(253)
  .transform((text, context) => {
    const name = domainToASCII(text.trim().replace(/\.$/, ""));
    if (HOST_NAME.test(name)) return name;
    context.addIssue({ code: "custom", message: "must be a host name such as status.example.com, without scheme, port and path" });
    return z.NEVER;
  })
  .nullable()
  .meta({ description: "A host name that leads to this page; no two pages have the same. Needs the pro plan.", example: "status.example.com" });

const Markup = z
  .string()
  .max(MAX_MARKUP_BYTES, "must be at most 64 KiB")
  .refine((text) => Buffer.byteLength(text) <= MAX_MARKUP_BYTES, "must be at most 64 KiB");

/** Kept as a browser reads it: the page's policy names it by its hash. */
const Css = Markup.overwrite(asHtmlReads);

const Range = z.string().transform((text, context) => {
  const range = normaliseRange(text);
  if (range !== null) return range;
  context.addIssue({ code: "custom", message: "must be an address or a CIDR range such as 203.0.113.0/24 or 2001:db8::/32" });
  return z.NEVER;
});

const VISIBILITY = "`unlisted` is `public` but named nowhere. `password` and `ip_restricted` need the pro plan, `private` the team plan. A page that becomes private ends all links and sessions that visitors were given before.";

const MATCH_LANGUAGE = "Show the page in the visitor's language (Accept-Language) where it is shipped; else status_page_language.";

/** What a page looks like and says, as it is answered. */
const shown = {
  custom_domain_status: z.enum(DOMAIN_STATUSES).nullable().meta({ description: "The page stands at its domain once it is `verified`: once the DNS has `custom_domain_record`. `pending` is looked for each hour for a week, a `failed` one too. A verified domain is looked at each day, and fails when its record has been gone for 72 hours." }),
  custom_domain_record: z.object({ type: z.literal("TXT"), name: z.string(), value: z.string() }).nullable().meta({ description: "The DNS record that proves that the domain is yours.", example: { type: "TXT", name: "_pharos.status.example.com", value: "pharos-page=5c1f8f6e-1111-4222-8333-444455556666" } }),
  logo_url: z.string().nullable(),
  favicon_url: z.string().nullable(),
  primary_color: z.string().meta({ example: "#2563eb" }),
  secondary_color: z.string().meta({ example: "#1e293b" }),
  tagline: z.string().nullable().meta({ example: "How we are doing" }),
  theme_mode: z.enum(THEME_MODES),
  status_page_theme: z.enum(PAGE_THEMES),
  custom_css: z.string().nullable(),
  custom_header_html: z.string().nullable(),
  custom_footer_html: z.string().nullable(),
  hide_branding: z.boolean(),
  status_page_password_hint: z.string().nullable(),
  announcement_text: z.string().nullable(),
  announcement_type: z.enum(ANNOUNCEMENT_TYPES),
  announcement_enabled: z.boolean(),
  status_page_language: z.enum(PAGE_LANGUAGES),
  match_visitor_language: z.boolean().meta({ description: MATCH_LANGUAGE }),
  font_family: z.enum(FONT_FAMILIES),
  show_subscribe_form: z.boolean(),
  show_incident_history: z.boolean(),
  show_uptime_graph: z.boolean(),
  header_style: z.enum(HEADER_STYLES),
  border_radius: z.enum(BORDER_RADII),
  custom_template: z.object({ html: z.string(), css: z.string().optional() }).nullable(),
};

export const StatusPageSummary = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Acme" }),
    slug: z.string().meta({ description: "The public page stands at /pages/{slug}.", example: "acme" }),
    custom_domain: z.string().nullable().meta({ example: "status.example.com" }),
    status_page_visibility: z.enum(PAGE_VISIBILITIES).meta({ description: VISIBILITY }),
    is_default: z.boolean().meta({ description: "One page of each organization is. It cannot be deleted." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "StatusPageSummary" });
export type StatusPageSummary = z.infer<typeof StatusPageSummary>;

export const StatusPage = StatusPageSummary.extend({ organization_id: z.uuid(), ...shown }).meta({ id: "StatusPage" });
export type StatusPage = z.infer<typeof StatusPage>;

export const StatusPageListQuery = z.object({ limit: limit(100, 500), offset: Offset });
export type StatusPageListQuery = z.output<typeof StatusPageListQuery>;
export const StatusPageList = z.object({ pages: z.array(StatusPageSummary) });
export const StatusPageAnswer = z.object({ page: StatusPage });
export const VerifiedDomain = z.object({
  page: StatusPage,
  warning: z.string().optional().meta({ description: "What is missing, when the record was not found." }),
});
export const UpdatedStatusPage = z.object({
  page: StatusPage,
  warning: z.string().optional().meta({ description: "Present when the page has a design and the change touched a field that the design governs." }),
});

/** What may be given at creation and changed later; what is left out keeps its value or gets its default. */
const editable = {
  slug: Slug.optional(),
  custom_domain: HostName.optional().meta({ description: "Where the page shall stand too, such as status.example.com. `custom_domain_record` says how to prove that it is yours." }),
  status_page_visibility: z.enum(PAGE_VISIBILITIES).optional().meta({ description: VISIBILITY }),
  is_default: z.boolean().optional().meta({ description: "true makes this the default page in place of the one that is. A default page stops being it only so, never by false." }),
  logo_url: ImageUrl.optional().meta({ example: "https://example.com/logo.svg" }),
  favicon_url: ImageUrl.optional().meta({ example: "https://example.com/favicon.ico" }),
  primary_color: Color.optional(),
  secondary_color: Color.optional(),
  tagline: z.string().max(255).nullable().optional().meta({ example: "How we are doing" }),
  theme_mode: z.enum(THEME_MODES).optional(),
  status_page_theme: z.enum(PAGE_THEMES).optional(),
  custom_css: Css.nullable().optional().meta({ description: "At most 64 KiB; what is unsafe, such as `@import`, is refused. Needs the pro plan." }),
  custom_header_html: Markup.nullable().optional().meta({ description: "At most 64 KiB; scripts, event handlers and other unsafe markup are refused. Needs the pro plan." }),
  custom_footer_html: Markup.nullable().optional().meta({ description: "At most 64 KiB; scripts, event handlers and other unsafe markup are refused. Needs the pro plan." }),
  hide_branding: z.boolean().optional().meta({ description: "true needs the pro plan." }),
  status_page_password: z.string().min(MIN_PASSWORD_LENGTH, `must have ${MIN_PASSWORD_LENGTH} characters or more`).max(255).nullable().optional().meta({ description: "Write-only: kept as a hash and never answered. Shorter ones from before this rule go on working. Visibility `password` needs one. Another one ends all links and sessions that visitors were given before.", example: "correct horse battery staple" }),
  status_page_password_hint: z.string().max(255).nullable().optional(),
  allowed_ips: z.array(Range).max(200).nullable().optional().meta({
    description: "Write-only: addresses and CIDR ranges that may see the page. Visibility `ip_restricted` needs at least one.",
    example: ["203.0.113.0/24", "2001:db8::/32"],
  }),
  announcement_text: FreeText.nullable().optional(),
  announcement_type: z.enum(ANNOUNCEMENT_TYPES).optional(),
  announcement_enabled: z.boolean().optional(),
  status_page_language: z.enum(PAGE_LANGUAGES).optional().meta({ description: "BCP 47." }),
  match_visitor_language: z.boolean().optional().meta({ description: MATCH_LANGUAGE }),
  font_family: z.enum(FONT_FAMILIES).optional(),
  show_subscribe_form: z.boolean().optional(),
  show_incident_history: z.boolean().optional(),
  show_uptime_graph: z.boolean().optional(),
  header_style: z.enum(HEADER_STYLES).optional(),
  border_radius: z.enum(BORDER_RADII).optional(),
  custom_template: z.strictObject({ html: Markup, css: Css.optional() }).nullable().optional().meta({ description: "Needs the pro plan. Changed through the design endpoints it has a history." }),
};

export const CreateStatusPage = z
  .strictObject({ name: Name.meta({ example: "Acme" }), ...editable, slug: Slug.optional().meta({ description: "Made from the name when left out." }) })
  .meta({ id: "CreateStatusPage" });
export type CreateStatusPage = z.infer<typeof CreateStatusPage>;

export const UpdateStatusPage = z.strictObject({ name: Name.optional(), ...editable }).meta({ id: "UpdateStatusPage" });
export type UpdateStatusPage = z.infer<typeof UpdateStatusPage>;

const AssignedService = z
  .object({
    service_id: z.uuid(),
    name: z.string().meta({ example: "Checkout" }),
    status: z.enum(SERVICE_STATUSES),
    display_order: z.int().meta({ description: "Its place on the page, from 0." }),
  })
  .meta({ id: "AssignedService" });
export type AssignedService = z.infer<typeof AssignedService>;

export const AssignedServiceList = z.object({ services: z.array(AssignedService) });

export const AssignServices = z
  .strictObject({
    service_ids: z.array(z.string()).max(2500).meta({ description: "The page shows exactly these services, in this order.", example: ["5c1f8f6e-1111-4222-8333-444455556666"] }),
  })
  .meta({ id: "AssignServices" });

/** How long a link to a private page may open it: a minute to a year. */
export const CreateAccessLink = z.strictObject({
  expires_in_seconds: z.int().min(60).max(31_536_000).default(86_400).meta({ description: "How long the link works, in seconds; a day unless given.", example: 86_400 }),
});

export const AccessLink = z
  .object({ url: z.url().meta({ example: "https://status.example.com/pages/acme?access=1798675200.R2xhZCB0byBzZWUgeW91IGhlcmU" }), expires_at: Timestamp })
  .meta({ id: "AccessLink", description: "A link that opens a private page for whoever has it." });
export type AccessLink = z.infer<typeof AccessLink>;

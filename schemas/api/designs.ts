import { z } from "zod";
import { DESIGN_STATES, FONT_FAMILIES, SECTION_TYPES, TEMPLATE_MODES } from "../vocabulary.ts";
import { asHtmlReads } from "../html-text.ts";
import { FreeText, limit, Timestamp } from "./shared.ts";

/** Characters of a template's HTML and of its CSS. */
const MAX_TEMPLATE_LENGTH = 65_536;

/** Largest value of a Postgres integer, which a version's number is. */
const MAX_VERSION_NUMBER = 2_147_483_647;

/** Any text parses: whether it is a color is judged with the rest of the design, so that all its faults are told at once. */
const BrandColor = z.string().max(100);

const ThemeTokens = z
  .strictObject({
    brand: z.strictObject({
      primary: BrandColor.meta({ description: "`#rgb` or `#rrggbb`.", example: "#2563eb" }),
      secondary: BrandColor.meta({ description: "`#rgb` or `#rrggbb`.", example: "#1e293b" }),
    }),
    font: z.strictObject({ family: z.enum(FONT_FAMILIES).meta({ example: "inter" }) }),
  })
  .meta({ description: "The brand's colors and the font. White text stands on either color, and text of either color on white.", id: "ThemeTokens" });

const Layout = z
  .strictObject({
    sections: z
      .array(z.strictObject({ type: z.enum(SECTION_TYPES), enabled: z.boolean() }))
      .max(100)
      .meta({ description: "From top to bottom. A section that is left out is not shown.", example: [{ type: "header", enabled: true }, { type: "overall_status", enabled: true }, { type: "services_list", enabled: true }] }),
  })
  .meta({ id: "DesignLayout" });

const Template = z
  .strictObject({
    html: z.string().max(MAX_TEMPLATE_LENGTH).meta({
      description: `What stands inside the page's body. \`{{section}}\` is replaced by a section, which is one of ${SECTION_TYPES.join(", ")}. Scripts, styles, forms, frames and event handlers are refused.`,
      example: "<main>{{header}}{{overall_status}}{{services_list}}</main>",
    }),
    css: z.string().max(MAX_TEMPLATE_LENGTH).overwrite(asHtmlReads).optional().meta({ description: "Addresses in it must be https. `@import` is refused.", example: "main { max-width: 60rem }" }),
  })
  .meta({ description: "A page's own HTML and CSS. Sanitised, never executed. Needs the pro plan.", id: "DesignTemplate" });

/** A draft as it is sent. What is left out keeps its value. */
export const DesignDraft = z
  .strictObject({
    theme_tokens: ThemeTokens.optional(),
    layout: Layout.optional(),
    template: Template.nullable().optional().meta({ description: "Null removes it." }),
    template_mode: z.enum(TEMPLATE_MODES).optional().meta({ description: "`custom` shows the template instead of the layout; needs the pro plan." }),
    summary: FreeText.nullable().optional().meta({ description: "What this version changes, for the history.", example: "Our new colors" }),
    base_version_id: z.uuid().nullable().optional().meta({ description: "The version of this page that the draft was made from; the published one unless given." }),
  })
  .meta({ id: "DesignDraft" });
export type DesignDraft = z.infer<typeof DesignDraft>;

const CompactDesignVersion = z
  .object({
    id: z.uuid(),
    status_page_id: z.uuid(),
    version_number: z.int().meta({ description: "Counts the page's versions from 1.", example: 3 }),
    state: z.enum(DESIGN_STATES).meta({ description: "One draft and one published version at most; what was published before is archived." }),
    base_version_id: z.uuid().nullable(),
    template_mode: z.enum(TEMPLATE_MODES),
    summary: z.string().nullable().meta({ example: "Our new colors" }),
    created_by: z.string().meta({ description: "Who made the version: the kind of actor, a colon, its name.", example: "api_key:Deploy" }),
    created_at: Timestamp,
    published_at: Timestamp.nullable(),
  })
  .meta({ id: "CompactDesignVersion" });
export type CompactDesignVersion = z.infer<typeof CompactDesignVersion>;

/** What of a version can be seen on the page. */
const Design = z.object({ theme_tokens: ThemeTokens, layout: Layout, template: Template.nullable(), template_mode: z.enum(TEMPLATE_MODES) });
export type Design = z.infer<typeof Design>;

export const DesignVersion = CompactDesignVersion.extend(Design.shape).meta({ id: "DesignVersion" });
export type DesignVersion = z.infer<typeof DesignVersion>;

/** What can be wrong with a design: faults first, then what is only advised against. */
const ISSUE_CODES = [
  "INVALID_COLOR",
  "DUPLICATE_SECTION",
  "NO_SECTION_ENABLED",
  "TEMPLATE_REQUIRED",
  "UNKNOWN_PLACEHOLDER",
  "UNSAFE_HTML",
  "UNSAFE_CSS",
  "LOW_CONTRAST",
  "SECTION_DISABLED",
  "TEMPLATE_UNUSED",
] as const;

export const DesignIssue = z
  .object({
    path: z.string().meta({ description: "A JSON Pointer into the design.", example: "/theme_tokens/brand/primary" }),
    code: z.enum(ISSUE_CODES).meta({ example: "LOW_CONTRAST" }),
    message: z.string().meta({ example: "White on #f59e0b has a contrast of 2.15:1; WCAG AA asks for 4.5:1." }),
    severity: z.enum(["error", "warning"]),
  })
  .meta({ id: "DesignIssue" });
export type DesignIssue = z.infer<typeof DesignIssue>;

const Pointers = z.object({ current_version_id: z.uuid().nullable().meta({ description: "The published version." }), draft_version_id: z.uuid().nullable() });

export const PageDesign = z
  .object({
    status_page_id: z.uuid(),
    ...Pointers.shape,
    current_version: DesignVersion.nullable(),
    draft_version: DesignVersion.nullable(),
    effective_design: DesignVersion.nullable().meta({ description: "The published version, else the draft, else null." }),
  })
  .meta({ id: "PageDesign" });
export type PageDesign = z.infer<typeof PageDesign>;

export const DraftAnswer = z.object({ draft_version: DesignVersion });
export const SavedDraft = DraftAnswer.extend({ warnings: z.array(DesignIssue) });
export type SavedDraft = z.infer<typeof SavedDraft>;

export const DesignValidation = z
  .object({ valid: z.boolean().meta({ description: "True when there are no errors: the design can be saved and published." }), errors: z.array(DesignIssue), warnings: z.array(DesignIssue) })
  .meta({ id: "DesignValidation" });
export type DesignValidation = z.infer<typeof DesignValidation>;

export const PublishDesign = z
  .strictObject({ expected_draft_version_id: z.uuid().meta({ description: "The draft that is meant, so that nobody publishes another one unseen." }) })
  .meta({ id: "PublishDesign" });

export const PublishedDesign = z.object({ success: z.literal(true), status_page_id: z.uuid(), current_version_id: z.uuid(), warnings: z.array(DesignIssue) });
export type PublishedDesign = z.infer<typeof PublishedDesign>;

export const DesignVersionAnswer = z.object({ version: DesignVersion });
export const DesignVersionPath = z.object({ id: z.string(), versionId: z.string() });

export const DesignVersionList = z.object({
  versions: z.array(CompactDesignVersion),
  next_cursor: z.int().nullable().meta({ description: "The `cursor` of the next page; null on the last one." }),
  ...Pointers.shape,
});
export type DesignVersionList = z.infer<typeof DesignVersionList>;

export const DesignVersionListQuery = z.strictObject({
  limit: limit(20, 100),
  cursor: z
    .string()
    .regex(/^-?\d+$/, "must be an integer")
    .transform((text) => Math.min(Math.max(Number(text), 0), MAX_VERSION_NUMBER))
    .optional()
    .meta({ description: "Only versions with a lower version_number." }),
});

/** How long a link to a draft may show it: a minute to thirty days. */
export const CreatePreviewLink = z.strictObject({
  expires_in_seconds: z.int().min(60).max(2_592_000).default(86_400).meta({ description: "How long the link works, in seconds; a day unless given.", example: 86_400 }),
});

export const PreviewLink = z
  .object({ url: z.url().meta({ example: "https://status.example.com/pages/acme?preview=1798675200.R2xhZCB0byBzZWUgeW91IGhlcmU" }), expires_at: Timestamp })
  .meta({ id: "PreviewLink", description: "A link that shows a page with its draft to whoever has it." });
export type PreviewLink = z.infer<typeof PreviewLink>;

import { PAGE_THEMES, SECTION_TYPES } from "../../schemas/vocabulary.ts";
import type { Stage } from "./stage.ts";
import { SERVICES } from "./story.ts";

const EVERYTHING = ["Website", ...SERVICES.map(({ name }) => name)];

interface Page {
  slug: string;
  /** Of the page itself, as its API takes them. */
  fields: Record<string, unknown>;
  services?: readonly string[];
  design?: Record<string, unknown>;
}

const BRAND = { primary: "#0f766e", secondary: "#134e4a" };

function pages(logos: string): Page[] {
  const common = { name: "Nordwind", tagline: "Everything for people who like to be outside", logo_url: `${logos}/nordwind.svg`, match_visitor_language: true };
  const announcement = { announcement_text: "From 1 June the API answers version 1 no longer. Version 3 is described at developers.nordwind.example.", announcement_type: "info", announcement_enabled: true };
  const design = { theme_tokens: { brand: BRAND, font: { family: "inter" } }, layout: { sections: SECTION_TYPES.map((type) => ({ type, enabled: true })) } };
  return [
    ...PAGE_THEMES.map((theme): Page => ({ slug: theme.replace("_", "-"), fields: { ...common, ...announcement, status_page_theme: theme }, services: EVERYTHING, design })),
    {
      slug: "banner",
      fields: { ...common, logo_url: `${logos}/nordwind-on-brand.svg`, header_style: "banner", primary_color: "#4c1d95", secondary_color: "#4c1d95", font_family: "inter", border_radius: "lg" },
      services: EVERYTHING,
    },
    { slug: "center", fields: { ...common, logo_url: null, header_style: "center", border_radius: "full", primary_color: "#be185d", secondary_color: "#831843", font_family: "open_sans" }, services: EVERYTHING },
    { slug: "template", fields: { ...common, match_visitor_language: false }, services: EVERYTHING, design: { theme_tokens: { ...design.theme_tokens, brand: { primary: "#1d4ed8", secondary: "#0b1f3a" } }, template: TEMPLATE, template_mode: "custom" } },
    { slug: "arabic", fields: { name: "رياح الشمال", tagline: "كل ما يحتاجه محبو الطبيعة", status_page_language: "ar", primary_color: BRAND.primary, secondary_color: BRAND.secondary }, services: EVERYTHING },
    { slug: "german", fields: { ...common, match_visitor_language: false, status_page_language: "de", tagline: "Alles für Leute, die gern draußen sind", font_family: "roboto", primary_color: BRAND.primary, secondary_color: BRAND.secondary }, services: EVERYTHING },
    { slug: "well", fields: { ...common, name: "Nordwind Shops", font_family: "inter", primary_color: BRAND.primary, secondary_color: BRAND.secondary }, services: ["Website", "Mail"] },
    { slug: "empty", fields: { name: "Nordwind Labs", font_family: "inter", primary_color: BRAND.primary, secondary_color: BRAND.secondary }, services: [] },
    { slug: "locked", fields: { ...common, status_page_visibility: "password", status_page_password: "correct horse battery staple", status_page_password_hint: "The one on the board in the kitchen" }, services: EVERYTHING },
  ];
}

/** A page that is wholly the owner's: what a template and CSS can do without any script. */
const TEMPLATE = {
  html: `<div class="sky"><div class="inside"><p class="brand">Nordwind</p><h1>How are we doing?</h1><p>Live from our shops, our API and our mail. <a href="https://nordwind.example">Back to the shop</a></p></div></div>
<div class="inside"><div class="lift">{{overall_status}}</div>{{active_incidents}}<div class="two"><div>{{services_list}}</div><div>{{scheduled_maintenance}}{{subscribe}}</div></div>{{incident_history}}{{footer}}</div>`,
  css: `:root { --width: 68rem; }
main { max-width: none; padding: 0; }
.custom { max-width: none; padding: 0; }
.inside { max-width: var(--width); margin-inline: auto; padding-inline: 1.25rem; }
.sky { padding-block: 3rem 5rem; background: linear-gradient(120deg, #0b1f3a, #1d4ed8 60%, #38bdf8); color: #ffffff; }
.sky h1 { color: #ffffff; font-size: clamp(2rem, 5vw, 3rem); }
.sky a { color: #ffffff; }
.brand { margin-bottom: 1rem; font-weight: 700; letter-spacing: 0.08em; text-transform: uppercase; }
.lift { margin-top: -2.5rem; }
.overall { padding: 1.25rem 1.5rem; box-shadow: 0 0.5rem 1.5rem rgb(11 31 58 / 18%); font-size: 1.25rem; }
@media (min-width: 60rem) { .two { display: grid; grid-template-columns: 3fr 2fr; gap: 2rem; } }`,
};

/** Makes every page that is pictured, by the API; resolves when all are published. */
export async function makePages(stage: Stage, services: ReadonlyMap<string, string>): Promise<void> {
  for (const { slug, fields, services: shown = [], design } of pages(stage.logos)) {
    const { page } = await stage.call<{ page: { id: string } }>("POST", "/status-pages", { slug, ...fields });
    await stage.call("PUT", `/status-pages/${page.id}/services`, { service_ids: shown.map((name) => services.get(name)) });
    if (!design) continue;
    const { draft_version: draft } = await stage.call<{ draft_version: { id: string } }>("PUT", `/status-pages/${page.id}/design/draft`, design);
    await stage.call("POST", `/status-pages/${page.id}/design/publish`, { expected_draft_version_id: draft.id });
  }
}

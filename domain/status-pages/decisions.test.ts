import { describe, expect, it } from "vitest";
import type { UpdateStatusPage } from "../../schemas/api/status-pages.ts";
import type { DomainStatus } from "../../schemas/vocabulary.ts";
import type { StatusPageRow } from "./columns.ts";
import { decideDomain, type DomainProof } from "./custom-domain.ts";
import { decideFeatures } from "./decide-features.ts";
import { decideWarning } from "./decide-warning.ts";

const row = (changes: Partial<StatusPageRow>) => changes as StatusPageRow;

describe("the features that a request begins to use", () => {
  it.each<{ name: string; given: UpdateStatusPage; before?: Partial<StatusPageRow>; expected: [string, string][] }>([
    { name: "none", given: { name: "Acme", status_page_visibility: "unlisted", hide_branding: false, custom_css: null, custom_header_html: "" }, expected: [] },
    { name: "visibilities", given: { status_page_visibility: "ip_restricted" }, expected: [["status_page_visibility", "ip_restricted_visibility"]] },
    {
      name: "everything",
      given: { status_page_visibility: "private", custom_domain: "a.example", custom_css: "a", custom_header_html: "a", custom_footer_html: "a", custom_template: { html: "a" }, hide_branding: true },
      expected: [
        ["status_page_visibility", "private_visibility"], ["custom_domain", "custom_domain"], ["custom_css", "custom_css"], ["custom_header_html", "custom_html"],
        ["custom_footer_html", "custom_html"], ["custom_template", "custom_template"], ["hide_branding", "hidden_branding"],
      ],
    },
    {
      name: "nothing that was there before",
      given: { status_page_visibility: "private", custom_css: "a", custom_template: { html: "a" }, hide_branding: true },
      before: { visibility: "private", customCss: "a", customTemplate: { html: "a" }, hideBranding: true },
      expected: [],
    },
    { name: "something else than was there", given: { custom_template: { html: "b" } }, before: { customTemplate: { html: "a" } }, expected: [["custom_template", "custom_template"]] },
  ])("$name", ({ given, before, expected }) => {
    expect(decideFeatures(given, before ? row(before) : null).map(({ field, feature }) => [field, feature])).toEqual(expected);
  });
});

describe("a look at a domain's proof", () => {
  const at = new Date("2026-03-01T12:00:00Z");
  const hoursAgo = (hours: number) => new Date(at.getTime() - hours * 3_600_000);
  const claim = (status: DomainStatus, failingSince: Date | null = null) => row({ customDomain: "a.example", customDomainStatus: status, customDomainFailingSince: failingSince });

  it.each<[string, StatusPageRow, DomainProof, boolean, Partial<StatusPageRow>]>([
    ["verifies a claim", claim("pending"), "present", false, { customDomainStatus: "verified", customDomainFailingSince: null }],
    ["verifies one that failed", claim("failed"), "present", true, { customDomainStatus: "verified", customDomainFailingSince: null }],
    ["lets a claim wait", claim("pending"), "absent", false, {}],
    ["fails a claim for who asked", claim("pending"), "absent", true, { customDomainStatus: "failed" }],
    ["notes that a proof is gone", claim("verified"), "absent", true, { customDomainFailingSince: at }],
    ["keeps a domain whose proof was gone for less than 72 hours", claim("verified", hoursAgo(71)), "absent", false, { customDomainFailingSince: hoursAgo(71) }],
    ["ends one whose proof was gone for 72 hours", claim("verified", hoursAgo(72)), "absent", false, { customDomainStatus: "failed", customDomainFailingSince: hoursAgo(72) }],
    ["forgets that the proof was gone", claim("verified", hoursAgo(71)), "present", false, { customDomainStatus: "verified", customDomainFailingSince: null }],
    ["changes nothing without an answer, however long", claim("verified", hoursAgo(500)), "unknown", false, {}],
  ])("%s", (_, before, proof, asked, expected) => {
    expect(decideDomain(before, proof, { at, asked })).toEqual({ customDomainCheckedAt: at, ...expected });
  });
});

describe("the warning of drift", () => {
  const NONE = { currentVersionId: null, draftVersionId: null };
  it.each<{ name: string; patch: UpdateStatusPage; design: typeof NONE | Record<keyof typeof NONE, string | null>; expected: RegExp | null }>([
    { name: "is absent without a design", patch: { primary_color: "#ffffff" }, design: NONE, expected: null },
    { name: "is absent for other fields", patch: { name: "a", border_radius: "lg" }, design: { currentVersionId: "a", draftVersionId: "b" }, expected: null },
    { name: "names the fields beside a published design", patch: { name: "a", secondary_color: "#ffffff", custom_template: null }, design: { currentVersionId: "a", draftVersionId: null }, expected: /a published design.*secondary_color, custom_template/ },
    { name: "tells of a draft", patch: { font_family: "mono" }, design: { currentVersionId: null, draftVersionId: "b" }, expected: /a draft design.*font_family/ },
  ])("$name", ({ patch, design, expected }) => {
    const warning = decideWarning(patch, design);
    if (expected === null) expect(warning).toBeNull();
    else expect(warning).toMatch(expected);
  });
});

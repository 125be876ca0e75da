import { describe, expect, it } from "vitest";
import type { Design } from "../../schemas/api/designs.ts";
import { findIssues, requireValid } from "./find-issues.ts";

const sections = (...types: string[]) => ({ sections: types.map((type) => ({ type: type.replace("-", ""), enabled: !type.startsWith("-") })) }) as Design["layout"];
const colors = (primary: string, secondary = "#1e293b"): Design["theme_tokens"] => ({ brand: { primary, secondary }, font: { family: "inter" } });

const good: Design = { theme_tokens: colors("#2563eb"), layout: sections("header", "overall_status", "services_list"), template: null, template_mode: "default" };

const errors: { name: string; change: Partial<Design>; expected: string[] }[] = [
  { name: "a good design", change: {}, expected: [] },
  { name: "a good template", change: { template: { html: "{{header}}", css: "a { color: red }" }, template_mode: "custom" }, expected: [] },
  { name: "a section twice", change: { layout: sections("header", "overall_status", "header", "header") }, expected: ["/layout/sections/2/type DUPLICATE_SECTION", "/layout/sections/3/type DUPLICATE_SECTION"] },
  { name: "a section twice, once disabled", change: { layout: sections("-header", "overall_status", "header") }, expected: ["/layout/sections/2/type DUPLICATE_SECTION"] },
  { name: "no section", change: { layout: sections() }, expected: ["/layout/sections NO_SECTION_ENABLED"] },
  { name: "no section enabled", change: { layout: sections("-header", "-overall_status") }, expected: ["/layout/sections NO_SECTION_ENABLED"] },
  { name: "colors that are none", change: { theme_tokens: colors("red", "#12") }, expected: ["/theme_tokens/brand/primary INVALID_COLOR", "/theme_tokens/brand/secondary INVALID_COLOR"] },
  { name: "custom without template", change: { template_mode: "custom" }, expected: ["/template TEMPLATE_REQUIRED"] },
  { name: "an unknown placeholder", change: { template: { html: "{{nope}}" }, template_mode: "custom" }, expected: ["/template/html UNKNOWN_PLACEHOLDER"] },
  { name: "unsafe HTML", change: { template: { html: "<script>1</script>" }, template_mode: "custom" }, expected: ["/template/html UNSAFE_HTML"] },
  { name: "unsafe CSS, though it is not shown", change: { template: { html: "", css: "@import 'x';" } }, expected: ["/template/css UNSAFE_CSS"] },
];

const warnings: { name: string; change: Partial<Design>; expected: string[] }[] = [
  { name: "a good design", change: {}, expected: [] },
  { name: "colors too light for white text", change: { theme_tokens: colors("#fbbf24", "#777") }, expected: ["/theme_tokens/brand/primary LOW_CONTRAST", "/theme_tokens/brand/secondary LOW_CONTRAST"] },
  { name: "the lightest grey that is dark enough", change: { theme_tokens: colors("#767676") }, expected: [] },
  { name: "header and status disabled", change: { layout: sections("services_list", "-header", "-overall_status") }, expected: ["/layout/sections/1/enabled SECTION_DISABLED", "/layout/sections/2/enabled SECTION_DISABLED"] },
  { name: "header and status left out", change: { layout: sections("services_list") }, expected: ["/layout/sections SECTION_DISABLED", "/layout/sections SECTION_DISABLED"] },
  { name: "a template that is not shown", change: { template: { html: "{{header}}" } }, expected: ["/template_mode TEMPLATE_UNUSED"] },
];

const told = (issues: { path: string; code: string }[]) => issues.map(({ path, code }) => `${path} ${code}`);

describe("errors", () => {
  it.each(errors)("of $name", ({ change, expected }) => {
    const found = findIssues({ ...good, ...change });
    expect(told(found.errors)).toEqual(expected);
    expect(found.errors.every(({ severity, message }) => severity === "error" && /^[A-Z].*[.!?]$/s.test(message))).toBe(true);
  });

  it("are all told in the refusal", () => {
    const design = { ...good, theme_tokens: colors("red"), template_mode: "custom" as const };
    expect(() => requireValid(design)).toThrow(expect.objectContaining({ code: "INVALID_DESIGN", details: expect.objectContaining({ path: "/theme_tokens/brand/primary", issues: findIssues(design).errors }) }));
  });
});

describe("warnings", () => {
  it.each(warnings)("of $name", ({ change, expected }) => {
    const found = findIssues({ ...good, ...change });
    expect(found.errors).toEqual([]);
    expect(told(found.warnings)).toEqual(expected);
    expect(requireValid({ ...good, ...change })).toEqual(found.warnings);
  });

  it("tell the contrast, never rounded up to what is asked for", () => {
    expect(findIssues({ ...good, theme_tokens: colors("#777777") }).warnings[0]?.message).toBe("White on #777777 has a contrast of 4.47:1; WCAG AA asks for 4.5:1.");
  });
});

import { describe, expect, it } from "vitest";
import type { PageSettings } from "./find-page.ts";
import { lookOf } from "./look.ts";

type Page = PageSettings["page"];
type Version = NonNullable<PageSettings["published"]>;

const PAGE = {
  themeMode: "system", statusPageTheme: "classic", primaryColor: "#111111", secondaryColor: "#222222", fontFamily: "georgia", borderRadius: "md", headerStyle: "left", logoUrl: null, faviconUrl: null,
  announcementText: "Sale", announcementType: "info", announcementEnabled: true, showSubscribeForm: true, showIncidentHistory: true, showUptimeGraph: true, customTemplate: null, customCss: null, customHeaderHtml: null, customFooterHtml: null, hideBranding: false,
} as Page;

const version = (change: Partial<Version>) =>
  ({ themeTokens: { brand: { primary: "#aaaaaa", secondary: "#bbbbbb" }, font: { family: "lato" } }, layout: { sections: [{ type: "services_list", enabled: true }, { type: "header", enabled: false }] }, template: null, templateMode: "default", ...change }) as Version;

const look = (settings: Partial<PageSettings>, preview = false) => lookOf({ page: PAGE, published: null, draft: null, ...settings }, { preview });

describe("what a page looks like", () => {
  it("is what its fields say, with every section but the metrics, while nothing is published", () => {
    for (const settings of [{}, { draft: version({}) }]) {
      expect(look(settings)).toMatchObject({ primary: "#111111", secondary: "#222222", font: "georgia", template: null, branding: true, announcement: { text: "Sale", type: "info" } });
      expect(look(settings).sections).toEqual(["header", "announcement", "overall_status", "active_incidents", "scheduled_maintenance", "services_list", "uptime_history", "incident_history", "subscribe", "footer"]);
    }
  });

  it("is the published design laid over them, and in a preview the draft", () => {
    const [published, draft] = [version({}), version({ layout: { sections: [{ type: "metrics", enabled: true }] } })];
    expect(look({ published, draft })).toMatchObject({ primary: "#aaaaaa", font: "lato", sections: ["services_list"] });
    expect(look({ published, draft }, true).sections).toEqual(["metrics"]);
    expect(look({ published }, true).sections).toEqual(["services_list"]);
  });

  it("leaves out what its switches turn off, whatever a design says", () => {
    const sections = ["subscribe", "uptime_history", "incident_history", "announcement", "footer"].map((type) => ({ type, enabled: true }));
    const off = { ...PAGE, announcementEnabled: false, showSubscribeForm: false, showIncidentHistory: false, showUptimeGraph: false };
    expect(look({ page: off, published: version({ layout: { sections } }) })).toMatchObject({ sections: ["footer"], announcement: null });
    for (const text of [null, ""]) expect(look({ page: { ...PAGE, announcementText: text } }).announcement).toBeNull();
  });

  it("has a template in the mode custom alone; the page's own only while nothing is published", () => {
    const template = { html: "<p>x</p>" };
    const page = { ...PAGE, customTemplate: template };
    expect(look({ page }).template).toEqual(template);
    expect(look({ page, published: version({}) }).template).toBeNull();
    expect(look({ published: version({ template }) }).template).toBeNull();
    expect(look({ published: version({ template, templateMode: "custom" }) }).template).toEqual(template);
  });

  it("knows no section and no font that is not shipped any more", () => {
    const old = version({ layout: { sections: [{ type: "weather", enabled: true }, { type: "footer", enabled: true }] }, themeTokens: { brand: { primary: "#aaaaaa", secondary: "#bbbbbb" }, font: { family: "comic" } } });
    expect(look({ published: old })).toMatchObject({ sections: ["footer"], font: "georgia" });
  });
});

import { signPreview } from "../domain/designs/preview-link.ts";
import { newId } from "../platform/ids.ts";
import {
  designVersions,
  incidents,
  incidentServices,
  incidentUpdates,
  maintenanceWindows,
  maintenanceWindowServices,
  services,
  statusPages,
  statusPageServices,
} from "../schemas/tables/all.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** Something hostile in each place that takes its kind. */
export interface Hostile {
  html?: string;
  css?: string;
  text?: string;
  url?: string;
}

type Place = "page" | "published" | "draft";

/** Enough that the section which shows it is enabled. */
const SECTIONS = "{{header}}{{announcement}}{{overall_status}}{{active_incidents}}{{scheduled_maintenance}}{{services_list}}{{subscribe}}{{footer}}";

/**
 * Stores a page for each of these as an older version might have taken it, past all checks, and resolves to their paths; of every second
 * page with a text, to its incident's. `page`: HTML in
 * the page's header, footer and template, CSS in the page's and the template's; `published` and `draft`: both in the template of a design.
 */
export async function storeHostilePages({ database, organization: { organizationId } }: TestControlPlane, place: Place, hostile: readonly Hostile[]): Promise<string[]> {
  const at = new Date();
  const made = hostile.map((each, n) => {
    const ids = { pageId: newId(), versionId: newId(), serviceId: newId(), incidentId: newId(), windowId: newId() };
    return { ...ids, ...each, slug: `${place}-${n}-${ids.pageId.slice(0, 8)}`, secret: Buffer.from(ids.pageId) };
  });
  const templateOf = ({ html = "", css }: Hostile) => ({ html: `${html}${SECTIONS}`, ...(css !== undefined && { css }) });
  const inPage = place === "page";
  await database.insert(statusPages).values(
    made.map(({ pageId, versionId, slug, secret, html = null, css = null, text = "Acme", url = null }, n) => ({
      id: pageId,
      organizationId,
      slug,
      name: text,
      tagline: text,
      announcementText: text,
      announcementEnabled: true,
      passwordHint: text,
      showUptimeGraph: false,
      logoUrl: url,
      faviconUrl: url,
      previewLinkSecret: secret,
      customCss: inPage ? css : null,
      customHeaderHtml: inPage ? html : null,
      customFooterHtml: inPage ? html : null,
      customTemplate: inPage && (html !== null || css !== null) ? templateOf(hostile[n]!) : null,
      currentVersionId: place === "published" ? versionId : null,
      draftVersionId: place === "draft" ? versionId : null,
    })),
  );
  if (place !== "page") {
    await database.insert(designVersions).values(
      made.map(({ pageId, versionId, ...own }) => ({
        id: versionId,
        organizationId,
        statusPageId: pageId,
        versionNumber: 1,
        state: place,
        themeTokens: { brand: { primary: "#2563eb", secondary: "#1e293b" }, font: { family: "system" } },
        layout: { sections: [] },
        template: templateOf(own),
        templateMode: "custom" as const,
        createdBy: "test",
        createdAt: at,
        publishedAt: place === "published" ? at : null,
      })),
    );
  }
  await database.insert(services).values(made.map(({ serviceId, text = "Website" }) => ({ id: serviceId, organizationId, name: text, description: text })));
  await database.insert(statusPageServices).values(made.map(({ pageId, serviceId }) => ({ organizationId, statusPageId: pageId, serviceId, displayOrder: 0 })));
  await database.insert(incidents).values(made.map(({ incidentId, text = "Slow" }) => ({ id: incidentId, organizationId, title: text, status: "investigating" as const, severity: "minor" as const, startedAt: at })));
  await database.insert(incidentServices).values(made.map(({ incidentId, serviceId }) => ({ organizationId, incidentId, serviceId })));
  await database.insert(incidentUpdates).values(made.map(({ incidentId, text = "Looking" }) => ({ id: newId(), organizationId, incidentId, status: "investigating" as const, message: text })));
  await database.insert(maintenanceWindows).values(made.map(({ windowId, text = "Upgrade" }) => ({ id: windowId, organizationId, title: text, description: text, startsAt: new Date(at.getTime() + 3_600_000), endsAt: new Date(at.getTime() + 7_200_000) })));
  await database.insert(maintenanceWindowServices).values(made.map(({ windowId, serviceId }) => ({ organizationId, maintenanceWindowId: windowId, serviceId })));
  const end = Math.floor(at.getTime() / 1000) + 3600;
  return made.map(({ pageId, slug, secret, incidentId, text }, n) => {
    if (text !== undefined && n % 2 === 1) return `/pages/${slug}/incidents/${incidentId}`;
    return place === "draft" ? `/pages/${slug}?preview=${signPreview({ id: pageId, previewLinkSecret: secret }, end)}` : `/pages/${slug}`;
  });
}

import { newId } from "../platform/ids.ts";
import {
  incidents,
  incidentServices,
  incidentUpdates,
  maintenanceUpdates,
  maintenanceWindows,
  maintenanceWindowServices,
  designVersions,
  services,
  serviceStatusHistory,
  statusPages,
  statusPageServices,
  subscribers,
} from "../schemas/tables/all.ts";
import { newConfirmToken, newSecret, ownToken } from "../domain/subscribers/tokens.ts";
import { SECTION_TYPES, SERVICE_STATUSES } from "../schemas/vocabulary.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { TestControlPlane } from "./control-plane.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface RichContent {
  serviceIds: string[];
  openIncident: string;
  resolvedIncident: string;
}

/** Services of every status with ninety days of history and measurements, incidents that are open and resolved, and maintenance. */
export async function storeRichContent({ database, organization: { organizationId } }: TestControlPlane, clickhouse: ClickHouse): Promise<RichContent> {
  const now = Date.now();
  const named = ["Website", "API (v2)", "Checkout and payments with a rather long name", "خدمة البريد (SMTP)", "支払い"];
  const made = SERVICE_STATUSES.map((status, n) => ({ id: newId(), organizationId, name: named[n]!, description: n === 1 ? "" : "Serves https://example.com/a/rather/long/address/without/any/blank?and=more", status, displayOrder: n }));
  await database.insert(services).values(made);
  const serviceIds = made.map(({ id }) => id);
  await database.insert(serviceStatusHistory).values(
    made.flatMap(({ id, status }, n) => [
      { at: now - 100 * DAY, status: "operational" as const },
      ...SERVICE_STATUSES.flatMap((each, m) => [
        { at: now - (80 - 12 * m - n) * DAY, status: each },
        { at: now - (80 - 12 * m - n) * DAY + (m + 1) * HOUR, status: "operational" as const },
      ]),
      { at: now - HOUR, status },
    ].map((each) => ({ organizationId, serviceId: id, status: each.status, source: "manual" as const, reason: "test", changedAt: new Date(each.at) }))),
  );
  const [openIncident, resolvedIncident, plain] = [newId(), newId(), newId()];
  await database.insert(incidents).values([
    { id: openIncident, organizationId, title: "Payments fail (500)", status: "identified", severity: "critical", startedAt: new Date(now - 2 * HOUR) },
    { id: plain, organizationId, title: "A title of one very long word: Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", status: "investigating", severity: "minor", startedAt: new Date(now - HOUR) },
    { id: resolvedIncident, organizationId, title: "Slow answers", status: "resolved", severity: "major", startedAt: new Date(now - 3 * DAY), resolvedAt: new Date(now - 3 * DAY + HOUR) },
  ]);
  await database.insert(incidentServices).values([openIncident, resolvedIncident].flatMap((incidentId) => serviceIds.slice(0, 3).map((serviceId) => ({ organizationId, incidentId, serviceId }))));
  await database.insert(incidentUpdates).values(
    ["investigating", "identified"].flatMap((status, n) => [openIncident, resolvedIncident].map((incidentId) => ({ id: newId(), organizationId, incidentId, status: status as "investigating", message: `We know more.\nIt takes about ${n + 1} h.`, createdAt: new Date(now - HOUR + n * 60_000) }))),
  );
  const windows = [
    { id: newId(), organizationId, title: "Database upgrade", description: "Writes wait.", status: "in_progress" as const, startsAt: new Date(now - HOUR), endsAt: new Date(now + HOUR) },
    { id: newId(), organizationId, title: "Move of the racks", status: "scheduled" as const, startsAt: new Date(now + DAY), endsAt: new Date(now + DAY + HOUR) },
    { id: newId(), organizationId, title: "Older work", status: "completed" as const, startsAt: new Date(now - 5 * DAY), endsAt: new Date(now - 5 * DAY + HOUR) },
  ];
  await database.insert(maintenanceWindows).values(windows);
  await database.insert(maintenanceWindowServices).values(windows.map(({ id }) => ({ organizationId, maintenanceWindowId: id, serviceId: serviceIds[1]! })));
  await database.insert(maintenanceUpdates).values({ id: newId(), organizationId, maintenanceWindowId: windows[0]!.id, status: "in_progress", message: "It has begun.", createdAt: new Date(now - HOUR) });
  await clickhouse.insert("metric_samples", serviceIds.flatMap((serviceId) => ["response_time_ms", "error_rate"].flatMap((name) => Array.from({ length: 24 }, (_none, n) => sample({ organizationId, serviceId, name, value: 200 + n, at: now - n * HOUR + 1_000 - HOUR })))), {});
  return { serviceIds, openIncident, resolvedIncident };
}

function sample({ organizationId, serviceId, name, value, at }: { organizationId: string; serviceId: string; name: string; value: number; at: number }) {
  const moment = new Date(at).toISOString().replace("T", " ").replace("Z", "");
  return { log_id: "log", partition: 0, offset: 1, index: 0, organization_id: organizationId, service_id: serviceId, name, value: name === "error_rate" ? value / 100 : value, received_at: moment, reported_at: moment };
}

/** Stores a page that shows all this, with every section; resolves to its slug and id. */
export async function storeRichPage({ database, organization: { organizationId } }: TestControlPlane, { serviceIds }: RichContent, look: Partial<typeof statusPages.$inferInsert> = {}, template?: { html: string; css?: string }): Promise<{ id: string; slug: string }> {
  const [id, versionId] = [newId(), newId()];
  const slug = `rich-${id.slice(0, 13)}`;
  await database.insert(statusPages).values({
    id,
    organizationId,
    name: "Acme",
    slug,
    tagline: "How we are doing (24/7)",
    announcementText: "We move on Friday.\nNothing is needed of you.",
    announcementEnabled: true,
    matchVisitorLanguage: true,
    passwordHint: "The usual one",
    currentVersionId: versionId,
    ...look,
  });
  await database.insert(designVersions).values({
    id: versionId,
    organizationId,
    statusPageId: id,
    versionNumber: 1,
    state: "published",
    themeTokens: { brand: { primary: look.primaryColor ?? "#2563eb", secondary: look.secondaryColor ?? "#1e293b" }, font: { family: "system" } },
    layout: { sections: SECTION_TYPES.map((type) => ({ type, enabled: true })) },
    template: template ?? null,
    templateMode: template ? "custom" : "default",
    createdBy: "test",
    createdAt: new Date(),
    publishedAt: new Date(),
  });
  await database.insert(statusPageServices).values(serviceIds.map((serviceId, displayOrder) => ({ organizationId, statusPageId: id, serviceId, displayOrder })));
  return { id, slug };
}

/** Paths of a page's links in mails: to confirm, and a subscriber's own. */
export async function storeSubscribers({ database, organization: { organizationId } }: TestControlPlane, page: { id: string; slug: string }): Promise<{ confirm: string; own: string }> {
  const at = new Date();
  const [pending, active, secret] = [newId(), newId(), newSecret()];
  const { token, hash } = newConfirmToken();
  const row = (id: string, address: string) => ({ id, organizationId, statusPageId: page.id, kind: "email" as const, address, addressKey: address, target: address, secret, asksSince: at, lastAskedAt: at, createdAt: at, updatedAt: at });
  await database.insert(subscribers).values([
    { ...row(pending, "ada@example.com"), state: "pending", confirmHash: hash, confirmExpiresAt: new Date(at.getTime() + DAY) },
    { ...row(active, "bob@example.com"), state: "active" },
  ]);
  return { confirm: `/pages/${page.slug}/subscribers/confirm?token=${token}`, own: `/pages/${page.slug}/subscribers/unsubscribe?token=${ownToken(active, secret)}` };
}

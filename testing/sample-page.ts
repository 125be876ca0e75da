import type { PageRecord, PublicIncident, PublicMaintenance, PublicPage, PublicService } from "../domain/status-pages/public-page.ts";

/** An id that says what it is of: `7` is the seventh. */
export function sampleId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

export function sampleService(change: Partial<PublicService> = {}): PublicService {
  return { id: sampleId(1), name: "Website", description: "", status: "operational", createdAt: "2026-01-10T08:00:00.000Z", updatedAt: "2026-05-04T09:00:00.000Z", ...change };
}

/** One that is open and has no update, of no service. */
export function sampleIncident(change: Partial<PublicIncident> = {}): PublicIncident {
  const at = "2026-05-04T09:00:00.000Z";
  return { id: sampleId(10), title: "Payments fail", status: "investigating", severity: "major", startedAt: at, resolvedAt: null, createdAt: at, updatedAt: at, services: [], updates: [], ...change };
}

/** One that is scheduled and happens once, of no service. */
export function sampleMaintenance(change: Partial<PublicMaintenance> = {}): PublicMaintenance {
  const at = "2026-05-01T12:00:00.000Z";
  return { id: sampleId(20), title: "Database upgrade", description: "", status: "scheduled", startsAt: "2026-05-05T20:00:00.000Z", endsAt: "2026-05-05T22:00:00.000Z", rrule: null, createdAt: at, updatedAt: at, services: [], updates: [], ...change };
}

/** One with a service that works, and nothing else. */
export function samplePage(change: Partial<PublicPage> = {}): PublicPage {
  const times = { createdAt: "2026-01-10T08:00:00.000Z", updatedAt: "2026-05-04T10:00:00.000Z" };
  return { id: sampleId(100), name: "Acme", slug: "acme", tagline: null, timezone: "Europe/Berlin", ...times, overall: "operational", services: [sampleService()], incidents: [], maintenance: [], ...change };
}

export function sampleRecord(change: Partial<PageRecord> = {}): PageRecord {
  return { incidents: [], maintenance: [], ...change };
}

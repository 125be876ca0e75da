import { describe, expect, it } from "vitest";
import type { PublicIncident, PublicPage } from "../../../domain/status-pages/public-page.ts";
import { PageSummary } from "../../../schemas/api/public-pages.ts";
import type { ServiceStatus } from "../../../schemas/vocabulary.ts";
import { sampleId, sampleIncident, sampleMaintenance, samplePage, sampleService } from "../../../testing/sample-page.ts";
import { pageAddresses } from "../documents/addresses.ts";
import { makeSummary } from "./summary.ts";

const addresses = pageAddresses({ origin: "https://status.example.com", base: "", access: null });

/** Every field of it is checked against what is documented. */
const summaryOf = (change: Partial<PublicPage>) => PageSummary.parse(makeSummary({ page: samplePage(change), addresses }));

describe("the indicator of a summary", () => {
  const about = (severity: PublicIncident["severity"], status: PublicIncident["status"] = "investigating") => [sampleIncident({ severity, status })];

  it.each<[string, ServiceStatus | null, PublicIncident[], string, string]>([
    ["all is well", "operational", [], "none", "All Systems Operational"],
    ["there is no service", null, [], "none", "All Systems Operational"],
    ["maintenance", "maintenance", [], "maintenance", "Service Under Maintenance"],
    ["degraded", "degraded", [], "minor", "Partially Degraded Service"],
    ["partly down", "partial_outage", [], "major", "Partial System Outage"],
    ["down", "major_outage", [], "critical", "Major System Outage"],
    ["a minor incident of no service", "operational", about("minor"), "minor", "Partially Degraded Service"],
    ["a critical incident on a page without services", null, about("critical"), "critical", "Major System Outage"],
    ["a resolved one counts no more", "operational", about("critical", "resolved"), "none", "All Systems Operational"],
    ["the worse of both counts", "major_outage", about("minor"), "critical", "Major System Outage"],
  ])("%s", (_name, overall, incidents, indicator, description) => {
    expect(summaryOf({ overall, incidents }).status).toEqual({ indicator, description });
  });
});

it.each<[ServiceStatus, string]>([
  ["operational", "operational"],
  ["maintenance", "under_maintenance"],
  ["degraded", "degraded_performance"],
  ["partial_outage", "partial_outage"],
  ["major_outage", "major_outage"],
])("a service that is %s is %s", (status, expected) => {
  expect(summaryOf({ services: [sampleService({ status })] }).components.map((component) => component.status)).toEqual([expected]);
});

it("says what the page is and lists its services in their order", () => {
  const services = [sampleService({ id: sampleId(2), name: "Shop", description: "Where people buy." }), sampleService()];
  expect(summaryOf({ services })).toEqual({
    page: { id: sampleId(100), name: "Acme", url: "https://status.example.com/", time_zone: "Europe/Berlin", updated_at: "2026-05-04T10:00:00.000Z" },
    components: [
      {
        id: sampleId(2),
        name: "Shop",
        status: "operational",
        created_at: "2026-01-10T08:00:00.000Z",
        updated_at: "2026-05-04T09:00:00.000Z",
        position: 1,
        description: "Where people buy.",
        showcase: true,
        start_date: "2026-01-10",
        group_id: null,
        page_id: sampleId(100),
        group: false,
        only_show_if_degraded: false,
      },
      expect.objectContaining({ id: sampleId(1), name: "Website", position: 2, description: null }),
    ],
    incidents: [],
    scheduled_maintenances: [],
    status: { indicator: "none", description: "All Systems Operational" },
  });
});

it("tells of unresolved incidents only, with the services that they affect", () => {
  const at = (minute: number) => `2026-05-04T09:${String(minute).padStart(2, "0")}:00.000Z`;
  const update = (n: number, status: PublicIncident["status"]) => ({ id: sampleId(50 + n), status, message: `Word ${n}`, createdAt: at(n) });
  const open = sampleIncident({ status: "monitoring", severity: "critical", updatedAt: at(4), services: [{ id: sampleId(1), name: "Website" }], updates: [update(4, "monitoring"), update(3, "identified"), update(2, "monitoring"), update(1, "resolved")] });
  const { incidents } = summaryOf({ incidents: [open, sampleIncident({ id: sampleId(11), status: "resolved", resolvedAt: at(9) })] });
  expect(incidents).toEqual([
    {
      id: open.id,
      name: "Payments fail",
      status: "monitoring",
      created_at: at(0),
      updated_at: at(4),
      monitoring_at: at(2),
      resolved_at: null,
      impact: "critical",
      shortlink: `https://status.example.com/incidents/${open.id}`,
      started_at: at(0),
      page_id: sampleId(100),
      incident_updates: [4, 3, 2, 1].map((n) => expect.objectContaining({ body: `Word ${n}`, incident_id: open.id })),
      components: [expect.objectContaining({ name: "Website" })],
      reminder_intervals: null,
    },
  ]);
  expect(incidents[0]!.incident_updates[1]).toEqual({
    id: sampleId(53),
    status: "identified",
    body: "Word 3",
    incident_id: open.id,
    created_at: at(3),
    updated_at: at(3),
    display_at: at(3),
    affected_components: null,
    deliver_notifications: true,
    custom_tweet: null,
    tweet_id: null,
  });
});

it("tells of maintenance that runs or comes", () => {
  const running = sampleMaintenance({ status: "in_progress", services: [{ id: sampleId(1), name: "Website" }], updates: [{ id: sampleId(60), status: "in_progress", message: "It begins.", createdAt: "2026-05-05T20:00:00.000Z" }] });
  const others = (["scheduled", "completed", "cancelled"] as const).map((status, n) => sampleMaintenance({ id: sampleId(21 + n), status }));
  const { scheduled_maintenances: told, status } = summaryOf({ maintenance: [running, ...others] });
  expect(told.map(({ id, status }) => [id, status])).toEqual([[running.id, "in_progress"], [sampleId(21), "scheduled"]]);
  expect(told[0]).toMatchObject({
    name: "Database upgrade",
    impact: "maintenance",
    shortlink: `https://status.example.com/#${running.id}`,
    started_at: running.createdAt,
    scheduled_for: "2026-05-05T20:00:00.000Z",
    scheduled_until: "2026-05-05T22:00:00.000Z",
    monitoring_at: null,
    incident_updates: [{ status: "in_progress", body: "It begins." }],
    components: [{ name: "Website" }],
  });
  // A window ahead is no trouble; one that runs shows in the services' own status.
  expect(status.indicator).toBe("none");
});

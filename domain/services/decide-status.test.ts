import { describe, expect, it } from "vitest";
import type { OpinionSource, ServiceStatus } from "../../schemas/vocabulary.ts";
import { decideStatus } from "./change-status.ts";

type Held = [OpinionSource, ServiceStatus];

const cases: { name: string; held: Held[]; maintenance?: boolean; expected: Held; reason: string | null }[] = [
  { name: "nobody's opinion is operational", held: [], expected: ["manual", "operational"], reason: null },
  { name: "an operational opinion is none", held: [["metrics", "operational"]], expected: ["manual", "operational"], reason: null },
  { name: "one opinion is the status", held: [["metrics", "degraded"]], expected: ["metrics", "degraded"], reason: "metrics says so" },
  { name: "the worst wins, listed first", held: [["monitors", "major_outage"], ["manual", "degraded"]], expected: ["monitors", "major_outage"], reason: "monitors says so" },
  { name: "the worst wins, listed last", held: [["manual", "degraded"], ["incidents", "partial_outage"]], expected: ["incidents", "partial_outage"], reason: "incidents says so" },
  { name: "degraded is worse than maintenance", held: [["manual", "maintenance"], ["incidents", "degraded"]], expected: ["incidents", "degraded"], reason: "incidents says so" },
  { name: "maintenance is worse than operational", held: [["maintenance", "maintenance"]], maintenance: true, expected: ["maintenance", "maintenance"], reason: "maintenance says so" },
  { name: "of equals the earlier source holds it", held: [["metrics", "degraded"], ["manual", "degraded"], ["incidents", "degraded"]], expected: ["manual", "degraded"], reason: "manual says so" },
  { name: "monitors and metrics are silent in maintenance", held: [["maintenance", "maintenance"], ["monitors", "major_outage"], ["metrics", "major_outage"]], maintenance: true, expected: ["maintenance", "maintenance"], reason: "maintenance says so" },
  { name: "people are heard in maintenance", held: [["maintenance", "maintenance"], ["manual", "partial_outage"]], maintenance: true, expected: ["manual", "partial_outage"], reason: "manual says so" },
  { name: "incidents are heard in maintenance", held: [["maintenance", "maintenance"], ["incidents", "degraded"]], maintenance: true, expected: ["incidents", "degraded"], reason: "incidents says so" },
  { name: "a status of maintenance set by hand silences nobody", held: [["manual", "maintenance"], ["metrics", "major_outage"]], expected: ["metrics", "major_outage"], reason: "metrics says so" },
];

describe("a service's status", () => {
  it.each(cases)("$name", ({ held, maintenance = false, expected: [source, status], reason }) => {
    const opinions = held.map(([source, status]) => ({ source, status, reason: `${source} says so` }));
    expect(decideStatus(opinions, { maintenanceInProgress: maintenance })).toEqual({ status, source, reason });
    expect(decideStatus(opinions.toReversed(), { maintenanceInProgress: maintenance })).toEqual({ status, source, reason });
  });
});

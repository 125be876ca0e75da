import { z } from "zod";
import { INCIDENT_SEVERITIES, INCIDENT_STATUSES } from "../vocabulary.ts";
import { FreeText, limit, Name, Offset, SHOWN_UPDATES, Timestamp, UpdatesTotal } from "./shared.ts";

const Status = z.enum(INCIDENT_STATUSES);
const Severity = z.enum(INCIDENT_SEVERITIES);

const IncidentUpdate = z.object({
  id: z.uuid(),
  status: Status.meta({ description: "The incident's status at the time of the update." }),
  message: z.string().meta({ example: "A database fails over; we are watching it." }),
  created_at: Timestamp,
});

export const Incident = z
  .object({
    id: z.uuid(),
    title: z.string().meta({ example: "Payments fail" }),
    status: Status.meta({ example: "investigating" }),
    severity: Severity.meta({ example: "major" }),
    started_at: Timestamp,
    resolved_at: Timestamp.nullable().meta({ description: "Null while the incident is open." }),
    created_at: Timestamp,
    updated_at: Timestamp,
    services: z.array(z.object({ id: z.uuid(), name: z.string() })),
    updates: z.array(IncidentUpdate).meta({ description: SHOWN_UPDATES }),
    updates_total: UpdatesTotal,
  })
  .meta({ id: "Incident" });
export type Incident = z.infer<typeof Incident>;

export const IncidentList = z.object({ incidents: z.array(Incident) });
export const IncidentUpdateList = z.object({ updates: z.array(IncidentUpdate), total: z.int() });
export type IncidentUpdateList = z.infer<typeof IncidentUpdateList>;

const ServiceReferences = z
  .array(z.string().min(1).max(255))
  .max(2500)
  .meta({ description: "Names or ids of the affected services. A name that is unknown, or that several services share, is refused with its place.", example: ["Checkout"] });

export const CreateIncident = z
  .strictObject({
    title: Name.meta({ example: "Payments fail" }),
    status: Status.default("investigating"),
    severity: Severity.default("minor").meta({ description: "While the incident is open its services are at least: minor degraded, major partial_outage, critical major_outage." }),
    message: FreeText.min(1).optional().meta({ description: "Text of the first update.", example: "We are looking into it." }),
    services: ServiceReferences.default([]),
  })
  .meta({ id: "CreateIncident" });
export type CreateIncident = z.infer<typeof CreateIncident>;

export const UpdateIncident = z
  .strictObject({
    title: Name.optional(),
    severity: Severity.optional(),
    status: Status.optional().meta({ description: "Any status may follow any. `resolved` sets `resolved_at`, leaving it clears it." }),
    services: ServiceReferences.optional().meta({ description: "Replaces the affected services." }),
  })
  .meta({ id: "UpdateIncident" });
export type UpdateIncident = z.infer<typeof UpdateIncident>;

export const AddIncidentUpdate = z
  .strictObject({
    message: FreeText.min(1).meta({ example: "A fix is deployed; we are watching it." }),
    status: Status.optional().meta({ description: "The incident's new status; it stays as it is when left out.", example: "monitoring" }),
    notify: z.boolean().default(true).meta({ description: "False keeps the update silent: no `incident.*` event is emitted for it." }),
  })
  .meta({ id: "AddIncidentUpdate" });
export type AddIncidentUpdate = z.infer<typeof AddIncidentUpdate>;

export const IncidentListQuery = z.object({
  status: Status.optional(),
  service_id: z.string().optional().meta({ description: "Only incidents that affect this service." }),
  limit: limit(50, 100),
  offset: Offset,
});
export type IncidentListQuery = z.infer<typeof IncidentListQuery>;

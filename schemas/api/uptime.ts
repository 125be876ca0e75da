import { z } from "zod";
import { SERVICE_STATUSES, type ServiceStatus } from "../vocabulary.ts";
import { limit } from "./shared.ts";

const Percent = z.number().min(0).max(100).nullable();
const Seconds = z.number();

export const UptimeQuery = z.strictObject({
  days: limit(90, 366).meta({ description: "How many days, today included: 1 to 366.", example: "90" }),
});

export const ServiceUptime = z
  .object({
    days: z
      .array(
        z.object({
          date: z.iso.date().meta({ description: "A calendar day in the organization's time zone.", example: "2026-01-31" }),
          uptime_percent: Percent.meta({ description: "Null for a day before the service existed.", example: 99.9306 }),
          worst_status: z.enum(SERVICE_STATUSES).nullable().meta({ description: "The worst status that it had on that day; null for a day before it existed.", example: "partial_outage" }),
          seconds_by_status: z
            .object({ operational: Seconds, maintenance: Seconds, degraded: Seconds, partial_outage: Seconds, major_outage: Seconds } satisfies Record<ServiceStatus, z.ZodType>)
            .meta({ description: "They add up to the day's length, which is 23 or 25 hours when the clocks change, and less on the first day and today.", example: { operational: 86340, maintenance: 0, degraded: 0, partial_outage: 60, major_outage: 0 } }),
        }),
      )
      .meta({ description: "Oldest first, today last." }),
    uptime_percent: Percent.meta({ description: "Over all these days; null when the service did not exist in them.", example: 99.9992 }),
  })
  .meta({ id: "ServiceUptime" });
export type ServiceUptime = z.infer<typeof ServiceUptime>;

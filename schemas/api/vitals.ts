import { z } from "zod";

const Moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

export const VitalsQuery = z.strictObject({
  service_id: z.string().optional().meta({ description: "Only this service's; all of them when left out." }),
  from: Moment.optional().meta({ description: "First moment, ISO 8601; 24 hours before `to` when left out.", format: "date-time" }),
  to: Moment.optional().meta({ description: "End, not included, ISO 8601; now when left out.", format: "date-time" }),
});
export type VitalsQuery = z.output<typeof VitalsQuery>;

export const VitalList = z.object({
  vitals: z
    .array(
      z
        .object({
          name: z.string().meta({ description: "As the pages sent it.", example: "LCP" }),
          p75: z.number().meta({ description: "The 75th percentile, in the unit that was sent (milliseconds for LCP, none for CLS).", example: 1840 }),
          count: z.int().meta({ example: 5210 }),
        })
        .meta({ id: "Vital" }),
    )
    .meta({ description: "By name." }),
});
export type VitalList = z.infer<typeof VitalList>;

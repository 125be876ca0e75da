import { z } from "zod";
import { DEFAULT_THRESHOLDS, METRIC_NAME, Thresholds, ThresholdsPatch } from "../thresholds.ts";
import { OPINION_SOURCES, SERVICE_STATUSES } from "../vocabulary.ts";
import { FreeText, limit, Name, Offset, Timestamp } from "./shared.ts";

const Status = z.enum(SERVICE_STATUSES);
const DisplayOrder = z.int32().meta({ description: "Services are listed by this number, smallest first.", example: 0 });

export const Service = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Checkout" }),
    description: z.string().meta({ example: "Takes payments" }),
    status: Status.meta({ description: "The worst opinion that any source has of the service.", example: "operational" }),
    status_source: z.enum(OPINION_SOURCES).meta({ description: "Who holds that opinion; `manual` when nobody reports a problem.", example: "manual" }),
    display_order: DisplayOrder,
    thresholds: Thresholds.meta({ description: "What the service's metric pushes are judged by: its own thresholds, else the organization's, else the defaults.", example: DEFAULT_THRESHOLDS }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Service" });
export type Service = z.infer<typeof Service>;

/** Without `limit` all that a plan can have. */
export const ServiceListQuery = z.object({ limit: limit(2_500, 2_500), offset: Offset });
export type ServiceListQuery = z.output<typeof ServiceListQuery>;
export const ServiceList = z.object({ services: z.array(Service) });

const ThresholdsChange = ThresholdsPatch.meta({
  description: "Merged into what the service has. A metric that is null gets its default back; null for the whole restores the defaults.",
  example: { metrics: { error_rate: { degraded: 2 } }, breaches_to_worsen: 3 },
});

export const CreateService = z
  .strictObject({
    name: Name.meta({ example: "Checkout" }),
    description: FreeText.default("").meta({ example: "Takes payments" }),
    status: Status.default("operational").meta({ description: "Anything but operational is kept as the `manual` opinion.", example: "operational" }),
    display_order: DisplayOrder.default(0),
    thresholds: ThresholdsChange.optional(),
  })
  .meta({ id: "CreateService" });
export type CreateService = z.infer<typeof CreateService>;

export const UpdateService = z
  .strictObject({
    name: Name.optional(),
    description: FreeText.optional(),
    status: Status.optional().meta({
      description:
        "Sets the `manual` opinion and clears those of monitors and metrics until they next change; `operational` withdraws it. " +
        "The service's status stays the worst of all opinions, so an open incident or maintenance may keep it worse.",
      example: "degraded",
    }),
    display_order: DisplayOrder.optional(),
    thresholds: ThresholdsChange.optional(),
  })
  .meta({ id: "UpdateService" });
export type UpdateService = z.infer<typeof UpdateService>;

const Moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

export const MetricsQuery = z.object({
  name: z.string().regex(METRIC_NAME, "must be a metric's name such as error_rate").optional().meta({ description: "Only this metric; all of them when left out.", example: "error_rate" }),
  from: Moment.optional().meta({ description: "First moment, ISO 8601; 24 hours before `to` when left out." }),
  to: Moment.optional().meta({ description: "End, not included, ISO 8601; now when left out." }),
  step: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a whole number of seconds")
    .transform(Number)
    .optional()
    .meta({ description: "Seconds that one point stands for; chosen for about 300 points when left out.", example: "60" }),
});
export type MetricsQuery = z.infer<typeof MetricsQuery>;

export const MetricsSeries = z
  .object({
    series: z.array(
      z.object({
        name: z.string().meta({ example: "error_rate" }),
        points: z
          .array(z.array(z.union([Timestamp, z.number()])).length(4))
          .meta({ description: "`[start of the step, average, maximum, number of samples]`, oldest first; steps without samples are left out.", example: [["2026-01-31T12:00:00.000Z", 0.4, 1.2, 6]] }),
      }),
    ),
  })
  .meta({ id: "MetricsSeries" });
export type MetricsSeries = z.infer<typeof MetricsSeries>;

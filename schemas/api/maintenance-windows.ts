import { z } from "zod";
import { MAINTENANCE_STATUSES } from "../vocabulary.ts";
import { FreeText, limit, Name, Offset, SHOWN_UPDATES, Timestamp, UpdatesTotal } from "./shared.ts";

/** Thirty days. */
const LONGEST_NOTICE_MINUTES = 43_200;

const Status = z.enum(MAINTENANCE_STATUSES);

/** Years that every store and calendar can hold, whatever the offset. */
const Moment = Timestamp.refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return year >= 1970 && year <= 9000;
}, "must be between the years 1970 and 9000");

const StartsAt = Moment.meta({ description: "When it starts.", example: "2026-05-04T22:00:00.000Z" });
const EndsAt = Moment.meta({ description: "When it ends; after `starts_at`.", example: "2026-05-04T23:30:00.000Z" });
const Rrule = z
  .string()
  .min(1)
  .max(500)
  .nullable()
  .meta({
    description:
      "How it repeats, as one recurrence rule of RFC 5545, with or without `RRULE:`; null when it does not. `starts_at` is its DTSTART and gives the time of day. Parts: FREQ (DAILY, WEEKLY, MONTHLY, YEARLY), INTERVAL, COUNT or UNTIL, BYDAY, BYMONTHDAY, BYMONTH, BYSETPOS, WKST.",
    example: "FREQ=MONTHLY;BYDAY=1MO",
  });
const AutoStart = z.boolean().meta({ description: "It starts by itself at `starts_at`." });
const AutoComplete = z.boolean().meta({ description: "It is completed by itself at `ends_at`." });
const NotifyBeforeMinutes = z.int().min(1).max(LONGEST_NOTICE_MINUTES).nullable().meta({ description: "How long before its start it is announced once more; null for not at all.", example: 60 });
const ServiceReferences = z
  .array(z.string().min(1).max(255))
  .max(2500)
  .meta({ description: "Names or ids of the services that are worked on. A name that is unknown, or that several services share, is refused with its place.", example: ["Checkout"] });

const MaintenanceUpdate = z.object({
  id: z.uuid(),
  status: Status.meta({ description: "The window's status at the time of the update." }),
  message: z.string().meta({ example: "The upgrade has begun." }),
  created_at: Timestamp,
});

export const MaintenanceWindow = z
  .object({
    id: z.uuid(),
    title: z.string().meta({ example: "Database upgrade" }),
    description: z.string(),
    status: Status.meta({ example: "scheduled" }),
    starts_at: StartsAt,
    ends_at: EndsAt,
    rrule: z.string().nullable().meta({ example: "FREQ=MONTHLY;BYDAY=1MO" }),
    services: z.array(z.object({ id: z.uuid(), name: z.string() })),
    auto_start: AutoStart,
    auto_complete: AutoComplete,
    notify_before_minutes: z.int().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    updates: z.array(MaintenanceUpdate).meta({ description: SHOWN_UPDATES }),
    updates_total: UpdatesTotal,
  })
  .meta({ id: "MaintenanceWindow" });
export type MaintenanceWindow = z.infer<typeof MaintenanceWindow>;

export const MaintenanceWindowList = z.object({ maintenance_windows: z.array(MaintenanceWindow) });
export const MaintenanceUpdateList = z.object({ updates: z.array(MaintenanceUpdate), total: z.int() });
export type MaintenanceUpdateList = z.infer<typeof MaintenanceUpdateList>;

export const CreateMaintenanceWindow = z
  .strictObject({
    title: Name.meta({ example: "Database upgrade" }),
    description: FreeText.default("").meta({ example: "Payments are read-only for some minutes." }),
    starts_at: StartsAt,
    ends_at: EndsAt,
    rrule: Rrule.default(null),
    services: ServiceReferences.default([]),
    auto_start: AutoStart.default(true),
    auto_complete: AutoComplete.default(true),
    notify_before_minutes: NotifyBeforeMinutes.default(null),
  })
  .meta({ id: "CreateMaintenanceWindow" });
export type CreateMaintenanceWindow = z.infer<typeof CreateMaintenanceWindow>;

const NextStatus = Status.meta({ description: "A window goes from scheduled to in_progress and on to completed; until it is completed it can be cancelled. Anything else is refused with CONFLICT." });

export const UpdateMaintenanceWindow = z
  .strictObject({
    title: Name.optional(),
    description: FreeText.optional(),
    status: NextStatus.optional(),
    starts_at: StartsAt.optional(),
    ends_at: EndsAt.optional(),
    rrule: Rrule.optional(),
    services: ServiceReferences.optional().meta({ description: "Replaces the services." }),
    auto_start: AutoStart.optional(),
    auto_complete: AutoComplete.optional(),
    notify_before_minutes: NotifyBeforeMinutes.optional(),
  })
  .meta({ id: "UpdateMaintenanceWindow" });
export type UpdateMaintenanceWindow = z.infer<typeof UpdateMaintenanceWindow>;

export const AddMaintenanceUpdate = z
  .strictObject({
    message: FreeText.min(1).meta({ example: "The upgrade has begun." }),
    status: NextStatus.optional(),
  })
  .meta({ id: "AddMaintenanceUpdate" });
export type AddMaintenanceUpdate = z.infer<typeof AddMaintenanceUpdate>;

export const MaintenanceWindowListQuery = z.object({ status: Status.optional(), limit: limit(50, 100), offset: Offset });
export type MaintenanceWindowListQuery = z.infer<typeof MaintenanceWindowListQuery>;

import { z } from "zod";
import { SERVICE_STATUSES } from "../vocabulary.ts";
import { Timestamp } from "./shared.ts";

export const StatusPageSummary = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Acme" }),
    slug: z.string().meta({ description: "The public page stands at /pages/{slug}.", example: "acme" }),
    is_default: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "StatusPageSummary" });
export type StatusPageSummary = z.infer<typeof StatusPageSummary>;

export const StatusPage = StatusPageSummary.extend({
  organization_id: z.uuid(),
  tagline: z.string().nullable(),
}).meta({ id: "StatusPage" });
export type StatusPage = z.infer<typeof StatusPage>;

export const StatusPageList = z.object({ pages: z.array(StatusPageSummary) });
export const StatusPageAnswer = z.object({ page: StatusPage });

const AssignedService = z
  .object({
    service_id: z.uuid(),
    name: z.string().meta({ example: "Checkout" }),
    status: z.enum(SERVICE_STATUSES),
    display_order: z.int().meta({ description: "Its place on the page, from 0." }),
  })
  .meta({ id: "AssignedService" });
export type AssignedService = z.infer<typeof AssignedService>;

export const AssignedServiceList = z.object({ services: z.array(AssignedService) });

export const AssignServices = z
  .strictObject({
    service_ids: z.array(z.string()).max(2500).meta({ description: "The page shows exactly these services, in this order.", example: ["5c1f8f6e-1111-4222-8333-444455556666"] }),
  })
  .meta({ id: "AssignServices" });

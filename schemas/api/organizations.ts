import { z } from "zod";
import { Thresholds } from "../thresholds.ts";
import { PLANS } from "../vocabulary.ts";

const OrganizationConfig = z
  .object({
    name: z.string().meta({ example: "Acme" }),
    owner_email: z.string().nullable(),
    timezone: z.string().meta({ example: "UTC" }),
    language: z.string().meta({ example: "en" }),
    default_thresholds: Thresholds.nullable().meta({ description: "What services without thresholds of their own are judged by; null: the built-in defaults." }),
    retention_days: z.int(),
    plan: z.enum(PLANS),
  })
  .meta({ id: "OrganizationConfig" });
export type OrganizationConfig = z.infer<typeof OrganizationConfig>;

export const OrganizationConfigAnswer = z.object({ config: OrganizationConfig });

import { z } from "zod";
import { limit, Timestamp } from "./shared.ts";

export const AuditLogQuery = z.strictObject({
  limit: limit(50, 100),
  cursor: z.string().optional().meta({ description: "The `next_cursor` of the page before." }),
  action: z.string().optional().meta({ description: "Only entries of this action, such as `service.updated`.", example: "service.updated" }),
  resource_type: z.string().optional().meta({ description: "Only entries about this kind of resource.", example: "service" }),
  actor: z.string().optional().meta({ description: "Only entries of this actor: its id, its name or its type.", example: "Deploy script" }),
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;

const State = z.record(z.string(), z.unknown()).nullable();

const AuditEntry = z
  .object({
    id: z.uuid(),
    actor: z.object({
      type: z.string().meta({ description: "`api_key`, `cli` or `system`.", example: "api_key" }),
      id: z.uuid().nullable().meta({ description: "The API key's id; null for the command line and the service itself." }),
      name: z.string().meta({ example: "Deploy script" }),
    }),
    action: z.string().meta({ description: "The resource, a dot, what was done to it.", example: "service.updated" }),
    resource: z.object({ type: z.string().meta({ example: "service" }), id: z.uuid() }),
    changed_fields: z.array(z.string()).meta({ example: ["name"] }),
    before: State.meta({ description: "The resource before the change, secrets masked, without values of more than 1,000 characters that did not change; null where it did not exist.", example: { name: "Checkout" } }),
    after: State.meta({ description: "The resource after the change, in the same way; null where it exists no more.", example: { name: "Cash desk" } }),
    ip: z.string().nullable().meta({ example: "203.0.113.7" }),
    user_agent: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditLog = z.object({
  entries: z.array(AuditEntry).meta({ description: "Newest first." }),
  next_cursor: z.string().nullable().meta({ description: "Gives the next, older entries; null on the last page." }),
});
export type AuditLog = z.infer<typeof AuditLog>;

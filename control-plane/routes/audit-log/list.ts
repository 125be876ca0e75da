import { listAuditEntries } from "../../../domain/audit/list.ts";
import { AuditLog, AuditLogQuery } from "../../../schemas/api/audit-log.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/audit-log",
  scope: "audit_log:read",
  tag: "Audit log",
  summary: "List who changed what",
  description: "One entry for each change, newest first. Entries are written with the change itself and never altered; the values of secrets are not in them.",
  query: AuditLogQuery,
  response: AuditLog,
  handle: ({ query, actor, needs }) => listAuditEntries(needs.database, actor.organizationId, query),
});

import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { incidents } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { emitEvents } from "../events/emit.ts";
import { auditedIncident, incidentEvent } from "./describe.ts";
import { lockIncident } from "./lock.ts";
import { weighOnServices } from "./weigh-on-services.ts";

/** Deletes an incident with its updates; its services lose its opinion. NOT_FOUND. */
export async function deleteIncident(database: Database, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { incident, services } = await lockIncident(tx, actor.organizationId, id);
    await tx.delete(incidents).where(eq(incidents.id, id));
    await emitEvents(tx, [incidentEvent({ type: "incident.deleted", incident, services, message: "", at })]);
    await weighOnServices(tx, services.map((service) => service.id), at);
    await recordAudit(tx, actor, { action: "incident.deleted", resourceType: "incident", resourceId: id, before: auditedIncident(incident, services), after: null });
  });
}

import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { organizations } from "../../schemas/tables/all.ts";
import type { Plan } from "../../schemas/vocabulary.ts";
import { systemActor, type Actor } from "../actor.ts";
import { createApiKeyIn } from "../api-keys/create.ts";
import { recordAudit } from "../audit/record.ts";
import { createBeaconKeyIn } from "../beacon-keys/create.ts";
import { createServiceIn } from "../services/create.ts";
import { createFirstPageIn } from "../status-pages/create.ts";

export interface NewOrganization {
  name: string;
  plan: Plan;
  demo?: boolean;
  /** Its first services, in display order; one called "Website" unless given. The first gets the beacon key. */
  services?: readonly [FirstService, ...FirstService[]];
  tagline?: string;
}

interface FirstService {
  name: string;
  description: string;
}

export interface CreatedOrganization {
  organizationId: string;
  /** May do everything (`*:*`). Shown nowhere else. */
  apiKey: string;
  beaconKey: string;
  /** The first service. */
  serviceId: string;
  pageId: string;
  pageSlug: string;
}

const FIRST_SERVICES: readonly [FirstService, ...FirstService[]] = [{ name: "Website", description: "" }];

/** Makes an organization that can be used at once: a key, a service with a beacon key, and a default page that shows it. */
export async function createOrganization(database: Database, organization: NewOrganization, at = new Date()): Promise<CreatedOrganization> {
  return inTransaction(database, async (tx) => (await createOrganizationIn(tx, organization, at)).created);
}

/** As `createOrganization`, within a transaction; also the actor that made it and the ids of all services. */
export async function createOrganizationIn(
  tx: Transaction,
  { name, plan, demo = false, services = FIRST_SERVICES, tagline }: NewOrganization,
  at: Date,
): Promise<{ created: CreatedOrganization; actor: Actor; serviceIds: string[] }> {
  const organizationId = newId();
  const actor = systemActor(organizationId, "Pharos");
  await tx.insert(organizations).values({ id: organizationId, name, plan, isDemo: demo, createdAt: at, updatedAt: at });
  await recordAudit(tx, actor, { action: "organization.created", resourceType: "organization", resourceId: organizationId, before: null, after: { name, plan } });

  const { key: apiKey } = await createApiKeyIn(tx, actor, { name: "First key", scopes: ["*:*"] }, at);
  const serviceIds: string[] = [];
  for (const [order, service] of services.entries()) {
    const { id } = await createServiceIn(tx, actor, { ...service, status: "operational", display_order: order }, at);
    serviceIds.push(id);
  }
  const serviceId = serviceIds[0]!;
  const { key: beaconKey } = await createBeaconKeyIn(tx, actor, { name: "First beacon key", service_id: serviceId, allowed_origins: null }, at);
  const page = await createFirstPageIn(tx, actor, { name, serviceIds, at, ...(tagline !== undefined && { tagline }) });
  return { created: { organizationId, apiKey, beaconKey, serviceId, pageId: page.id, pageSlug: page.slug }, actor, serviceIds };
}

import { createOrganization } from "../../domain/organizations/create.ts";
import type { Config } from "../../platform/config.ts";
import type { Plan } from "../../schemas/vocabulary.ts";
import { withDatabase } from "./with-database.ts";

/** `organization create`: prints the keys, which are not shown again. */
export async function createOrganizationCommand(config: Config, { name, plan, json }: { name: string; plan: Plan; json: boolean }): Promise<number> {
  const made = await withDatabase(config, (database) => createOrganization(database, { name, plan }));
  const answer = { organization_id: made.organizationId, api_key: made.apiKey, beacon_key: made.beaconKey, service_id: made.serviceId, page_id: made.pageId };
  if (json) console.log(JSON.stringify(answer));
  else {
    console.log(`The organization "${name}" was made on the ${plan} plan. The API key is shown this once.\n`);
    for (const [field, value] of Object.entries(answer)) console.log(`  ${field.padEnd(16)} ${value}`);
  }
  return 0;
}

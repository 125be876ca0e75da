import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOrganization } from "../domain/organizations/create.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { Database } from "../platform/postgres/database.ts";
import { newId } from "../platform/ids.ts";
import { services } from "../schemas/tables/all.ts";
import { useSecretsKeys } from "../schemas/tables/sealed.ts";
import { TEST_SECRETS_KEY } from "../testing/secrets-key.ts";
import { storeEvents, storeSignatures, type StoredAmount, type StoredPlace } from "./stored-events.ts";
import { storeHistory, type StoredMonitors } from "./stored-history.ts";

/** One organization with all that is stored of it. */
export interface StoredData extends StoredPlace {
  amount: StoredAmount;
  monitors: StoredMonitors;
}

interface StoredNeeds {
  database: Database;
  clickhouse: ClickHouse;
}

const SERVICES = 4;
/** Beside the stores' own folders, so that they can be used again. */
const NOTE = "stored-data.json";

/**
 * Fills the stores for one organization of four services, or takes what an earlier call filled into the stores of this
 * folder. `history` rows each of samples, check results and pings.
 */
export async function storeData({ database, clickhouse }: StoredNeeds, folder: string, { history, ...amount }: StoredAmount & { history: number }): Promise<StoredData> {
  useSecretsKeys({ key: Buffer.from(TEST_SECRETS_KEY, "base64"), fallback: null });
  const note = join(folder, NOTE);
  if (existsSync(note)) return JSON.parse(readFileSync(note, "utf8")) as StoredData;
  const begun = Date.now();
  const { organizationId, apiKey, serviceId } = await createOrganization(database, { name: "Stored", plan: "team" });
  const more = Array.from({ length: SERVICES - 1 }, (_, number) => ({ id: newId(), organizationId, name: `Stored ${number}` }));
  await database.insert(services).values(more);
  const place: StoredPlace = { organizationId, apiKey, serviceIds: [serviceId, ...more.map(({ id }) => id)] };
  const monitors = await storeHistory({ database, clickhouse }, place, { rows: history, days: amount.days, now: amount.now });
  await storeEvents(clickhouse, place, amount);
  await storeSignatures(database, clickhouse, place, amount);
  const stored: StoredData = { ...place, amount, monitors };
  writeFileSync(note, JSON.stringify(stored));
  console.log(`Filled in ${((Date.now() - begun) / 1_000).toFixed(0)} s.`);
  return stored;
}

/** Resolves when ClickHouse merges nothing any more, or after a while: what is measured is a store that was filled in the course of time. */
export async function untilMerged(clickhouse: ClickHouse, atMostMs: number): Promise<void> {
  for (const until = performance.now() + atMostMs; performance.now() < until; ) {
    const [running] = await clickhouse.query<{ count: string }>("SELECT toString(count()) AS count FROM system.merges");
    if (running?.count === "0") return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

interface TableSize {
  table: string;
  rows: string;
  bytes: string;
  parts: string;
}

/** Rows, bytes and parts of the tables that have any. */
export function tableSizes(clickhouse: ClickHouse): Promise<TableSize[]> {
  return clickhouse.query<TableSize>("SELECT table, toString(sum(rows)) AS rows, toString(sum(bytes_on_disk)) AS bytes, toString(count()) AS parts FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table ORDER BY sum(bytes_on_disk) DESC");
}

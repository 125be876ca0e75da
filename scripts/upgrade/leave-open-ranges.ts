import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "drizzle-orm";
import type { DataStores } from "./data-stores.ts";
import type { LoadedVersion } from "./kill-old-service.ts";
import { beaconFrames, EVENTS_OF_FRAMES, pingFrames, pushFrames, type OldFrame } from "./old-frames.ts";
import { runOldProcessor, startOldProcessor, type OldProcessor, type OldWork } from "./old-processors.ts";

/** Ranges that old processors opened and did not close. */
export interface OpenRanges {
  /** Messages of errors: each stands for all events of `beaconFrames`. */
  messages: string[];
  /** Names of metrics, each of all rows of `pushFrames`, and messages of pings, each of `pingFrames`. */
  metrics: string[];
  pings: string[];
  /** Topic and partition of each record that is no frame. */
  broken: { topic: string; partition: number }[];
  /** Given to the old processor beside after the upgrade; its message must stay unknown. */
  besideFrame: OldFrame;
  besideMessage: string;
}

interface OpenNeeds {
  old: string;
  folder: string;
  stores: DataStores;
  loaded: LoadedVersion;
}

const RUNNING_PARTITION = 3;
const BESIDE_PARTITION = 4;
const BESIDE_MS = 60_000;
/** Words, because errors whose messages differ in a number are one error. */
const PLACES = ["north", "east", "south"] as const;
const RUNNING_MESSAGE = "amid an insert";
/** The last of its partition, which the old processor beside closes before the upgrade. */
const CLOSED_MESSAGE = "closed beside";
/** So short that the old version takes it for one event, and has it in one range with the frames before it. */
const BROKEN = "broken";

/** Deletes some rows of a range, as if ClickHouse had taken in a part of the insert. */
type Deletion = { table: string; where: string } | null;

/** Partition, step and what is deleted afterwards. Indexes are those within a record. */
const ERROR_STATES: readonly [number, OldWork["stopAt"], Deletion][] = [
  [0, "opened", null],
  [1, "inserted", null],
  [2, "inserted", { table: "beacon_events", where: "message = 'errors south inserted' AND index IN (0, 4, 7)" }],
];
const PUSH_STATES: readonly [number, OldWork["stopAt"], Deletion][] = [
  [0, "opened", null],
  [1, "inserted", null],
  [2, "inserted", { table: "metric_samples", where: "startsWith(name, 'samples_2') AND index = 1" }],
];
const PING_STATES: readonly [number, OldWork["stopAt"], Deletion][] = [
  [0, "opened", null],
  [1, "inserted", { table: "heartbeat_pings", where: "message = 'pings 1 inserted' AND index = 1" }],
  [2, "inserted", { table: "heartbeat_pings", where: "message = 'pings 2 inserted' AND index = 0" }],
];

/** Runs old consumers to each state, on stores that nobody else uses. */
export async function leaveRangesOpen({ old, folder, stores, loaded, tell }: OpenNeeds & { tell(sentence: string): void }): Promise<OpenRanges> {
  const { tenant } = loaded;
  tell(`the kill left ${await countOpen(stores)} ranges open`);
  const open: OpenRanges = { messages: [RUNNING_MESSAGE, CLOSED_MESSAGE], metrics: [], pings: [], broken: [], besideMessage: "sent beside", besideFrame: beaconFrames(tenant, BESIDE_PARTITION, "sent beside")[0]! };
  const run = (group: OldWork["group"], partition: number, stopAt: OldWork["stopAt"], frames: OldFrame[]) =>
    runOldProcessor({ old, logFolder: join(folder, "log"), ...urlsOf(stores), frames, group, partitions: [partition], stopAt });
  for (const [partition, stopAt, deletion] of ERROR_STATES) {
    const message = `errors ${PLACES[partition]} ${stopAt}`;
    const broken = { topic: "beacons", partition, bytes: BROKEN };
    await run("errors", partition, stopAt, [...beaconFrames(tenant, partition, message), broken]);
    await deleteRows(stores, deletion);
    open.messages.push(message);
    open.broken.push(broken);
  }
  for (const [partition, stopAt, deletion] of PUSH_STATES) {
    const name = `samples_${partition}_${stopAt}`;
    await run("samples", partition, stopAt, pushFrames(tenant, partition, name));
    await deleteRows(stores, deletion);
    open.metrics.push(name);
  }
  for (const [partition, stopAt, deletion] of PING_STATES) {
    const message = `pings ${partition} ${stopAt}`;
    await run("ping-history", partition, stopAt, pingFrames(tenant, partition, message));
    await deleteRows(stores, deletion);
    open.pings.push(message);
  }
  await run(null, RUNNING_PARTITION, "opened", beaconFrames(tenant, RUNNING_PARTITION, RUNNING_MESSAGE));
  await run(null, BESIDE_PARTITION, "opened", beaconFrames(tenant, BESIDE_PARTITION, CLOSED_MESSAGE));
  const states = ERROR_STATES.length + PUSH_STATES.length + PING_STATES.length;
  const count = await countOpen(stores);
  if (count < states) throw new Error(`${count} ranges are open instead of ${states}.`);
  tell(`${count} ranges are open, at every step`);
  return open;
}

/**
 * An old processor on a copy of the log, as another process has Kafka; resolves when its insert runs and its other
 * partition has nothing under way: it shall read more there only after the upgrade.
 */
export async function startBesides({ old, folder, stores }: OpenNeeds): Promise<OldProcessor> {
  const logFolder = join(folder, "log-beside");
  await cp(join(folder, "log"), logFolder, { recursive: true });
  const staysOwner = process.env.UPGRADE_STAYS_OWNER === "1";
  const besides = startOldProcessor({ old, logFolder, ...urlsOf(stores), frames: [], group: "errors", partitions: [RUNNING_PARTITION, BESIDE_PARTITION], stopAt: "running", staysOwner });
  const first = await Promise.race([besides.told("running"), besides.told("ended")]);
  if (first.event === "ended") throw new Error(`The insert ended before the upgrade: ${first.message}`);
  for (const deadline = performance.now() + BESIDE_MS; !(await isClosedBeside(stores)); await wait(100)) {
    if (performance.now() > deadline) throw new Error(`The old processor beside does not end its ranges:\n${besides.output()}`);
  }
  return besides;
}

/** Whether all that its other partition held is counted and no range is open there. */
async function isClosedBeside({ database }: DataStores): Promise<boolean> {
  const { rows } = await database.execute<{ closed: boolean }>(sql`
    select coalesce((select sum(occurrences) from error_signatures where message = ${CLOSED_MESSAGE}), 0) >= ${EVENTS_OF_FRAMES}
      and exists (select 1 from cursors where consumer_group = 'errors' and partition = ${BESIDE_PARTITION} and range_token is null) as closed`);
  return rows[0]!.closed;
}

const urlsOf = ({ databaseUrl, clickhouseUrl }: DataStores) => ({ databaseUrl, clickhouseUrl });

async function countOpen({ database }: DataStores): Promise<number> {
  const { rows } = await database.execute<{ open: number }>(sql`select count(*)::integer as open from cursors where range_token is not null`);
  return rows[0]!.open;
}

async function deleteRows({ clickhouse }: DataStores, deletion: Deletion): Promise<void> {
  if (deletion === null) return;
  const { table, where } = deletion;
  const standing = async () => (await clickhouse.query(`SELECT 1 FROM ${table} WHERE ${where}`)).length;
  if ((await standing()) === 0) throw new Error(`Nothing stands to be deleted: ${where}`);
  await clickhouse.command(`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 1`);
}

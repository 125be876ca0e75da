import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { sql } from "drizzle-orm";
import { COMMAND_LINE_PROGRAM } from "../../testing/service-process.ts";
import type { DataStores } from "./data-stores.ts";
import type { Want } from "./judge-upgrade.ts";
import { sendBeacons, type LoadedVersion } from "./kill-old-service.ts";
import type { OpenRanges } from "./leave-open-ranges.ts";
import { EVENTS_OF_FRAMES } from "./old-frames.ts";
import { startService, upgradeEnvironment } from "./started-services.ts";

const PROCESSED_MS = 60_000;
/** Nothing more is processed when no cursor moved for so long. */
const QUIET_MS = 2_000;

/** The new version on the old one's data. */
export interface UpgradedService {
  /** Sends beacons again that the older version has answered. */
  repeat(retries: LoadedVersion["retries"]): Promise<void>;
  /** Resolves when no cursor moves any more and every old letter has come over. */
  untilProcessed(stores: DataStores): Promise<void>;
  stop(): Promise<void>;
}

/** Starts this version beside stores that run, so that old processors can use them too. */
export async function startUpgraded(folder: string, { databaseUrl, clickhouseUrl }: DataStores): Promise<UpgradedService> {
  const environment = upgradeEnvironment(folder, { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl });
  const service = await startService(environment);
  return {
    repeat: ({ bodies }) => sendBeacons(service.edge, bodies),
    async untilProcessed({ database }) {
      const deadline = performance.now() + PROCESSED_MS;
      for (let known = "", since = performance.now(); performance.now() - since < QUIET_MS; await wait(100)) {
        const { rows } = await database.execute(sql`select consumer_group, partition, next_offset::text from cursors order by 1, 2`);
        const cursors = JSON.stringify(rows);
        if (cursors !== known) since = performance.now();
        known = cursors;
        if (performance.now() > deadline) throw new Error(`The cursors still move:\n${service.output()}`);
      }
    },
    async stop() {
      service.child.kill("SIGTERM");
      if ((await service.exited) !== 0) throw new Error(`The new version did not stop by itself:\n${service.output()}`);
    },
  };
}

interface Asked {
  loaded: LoadedVersion;
  open: OpenRanges;
  want: Want;
}

/** Starts this version as `npm start` does on the same folder, and asks it for what the older one took in. */
export async function askUpgraded(folder: string, { loaded, open, want }: Asked): Promise<void> {
  const service = await startService(upgradeEnvironment(folder));
  const ask = async <Body>(path: string): Promise<Body> => {
    const answer = await fetch(`${service.base}/api/v1${path}`, { headers: { "X-API-Key": loaded.tenant.apiKey } });
    return (await answer.json()) as Body;
  };
  const { errors } = await ask<{ errors: { id: string; message: string; occurrences: number }[] }>("/errors?limit=100");
  for (const message of open.messages) {
    const found = errors.find((each) => each.message === message);
    want(found?.occurrences === EVENTS_OF_FRAMES, `GET /errors counts ${found?.occurrences} of "${message}" instead of ${EVENTS_OF_FRAMES}`);
    const { occurrences } = await ask<{ occurrences?: unknown[] }>(`/errors/${found?.id}/occurrences?limit=100`);
    want(occurrences?.length === EVENTS_OF_FRAMES, `GET /errors/{id}/occurrences shows ${occurrences?.length} of "${message}"`);
  }
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND_LINE_PROGRAM, "dead-letter", "list", "--json"], { env: upgradeEnvironment(folder) });
  const listed = stdout.trim().split("\n").filter((line) => line !== "" && (JSON.parse(line) as { topic: string }).topic === "beacons").length;
  want(listed === open.broken.length, `pharos dead-letter list shows ${listed} letters instead of ${open.broken.length}`);
  service.child.kill("SIGTERM");
  await service.exited;
}

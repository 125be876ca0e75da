import { sql } from "drizzle-orm";
import type { Group } from "../../domain/errors/group-again.ts";
import { moveSignature } from "../../domain/errors/move-signature.ts";
import { mergedInto } from "../../domain/errors/aliases.ts";
import { hasEvents, readUnmapped, type UnmappedRow } from "../../domain/errors/read-unmapped.ts";
import { noteAllDone, noteDoneUpTo, readLateMap, type LateMap } from "../../domain/source-maps/late-maps.ts";
import { withContexts } from "../../domain/source-maps/read-contexts.ts";
import { claimDue } from "../../platform/claim-due.ts";
import { ClickHouseUnavailable, type ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { makeDueLooks, type DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import { inTransaction, isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import type { WorkerPool } from "../../platform/worker-pool.ts";
import { lateSourceMaps } from "../../schemas/tables/all.ts";
import { TriedAgain } from "../consume/decide-failure.ts";
import type { MapServer } from "../errors/serve-maps.ts";
import type { GroupsTask } from "./worker.ts";

interface LateMapsNeeds {
  database: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS">;
  log: Log;
  /** With maps. */
  pool: WorkerPool<GroupsTask, Group[]>;
  maps: Pick<MapServer, "changed">;
  looks?: DueLooks | undefined;
}

const AT_ONCE = 100;
/** Longer than a page can take; who died is taken over from after so long. */
const LEASE_MS = 180_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/**
 * Looks through the errors from before an upload, signature by signature, and lets each be what it is grouped as now. Any number of these may
 * run beside each other; what one that died had done stays done, and another goes on from there.
 */
export function makeLateMaps({ database, clickhouse, clock, config, log, pool, maps, looks = makeDueLooks({ database, clock, log, everyMs: config.SCHEDULER_TICK_MS }) }: LateMapsNeeds): Repeating {
  /** Whether there was anything to do. */
  async function next(stopping: AbortSignal): Promise<boolean> {
    const { ids: [id], token } = await claimDue(database, { table: lateSourceMaps, condition: sql`true`, now: new Date(clock.now()), leaseMs: LEASE_MS, limit: 1 });
    if (id === undefined) return false;
    const late = await readLateMap(database, id, token);
    if (late) await lookThrough(late, { id, token, stopping });
    return true;
  }

  async function lookThrough(late: LateMap & { doneUpTo: string | null }, { id, token, stopping }: { id: string; token: string; stopping: AbortSignal }): Promise<void> {
    // That this map came may not have been heard yet.
    maps.changed();
    let after = late.doneUpTo ?? BEFORE_ALL;
    let moved = 0;
    while (!stopping.aborted) {
      const rows = await readUnmapped(clickhouse, { ...late, after, limit: AT_ONCE });
      moved += await regroup(late.organizationId, rows);
      if (rows.length < AT_ONCE) {
        await noteAllDone(database, id, token, new Date(clock.now()));
        log.info({ serviceId: late.serviceId, release: late.release, moved }, "errors from before an upload were looked through");
        return;
      }
      after = rows.at(-1)!.signature_id;
      if (!(await noteDoneUpTo(database, id, token, { doneUpTo: after, leaseUntil: new Date(clock.now() + LEASE_MS) }))) return;
    }
  }

  async function regroup(organizationId: string, rows: UnmappedRow[]): Promise<number> {
    if (rows.length === 0) return 0;
    const groups = await pool.run({ rows });
    let moved = 0;
    const merged = await mergedInto(database, rows.map((row) => row.signature_id));
    for (const [index, group] of groups.entries()) {
      if (!group.mapped) continue;
      const row = rows[index]!;
      const from = merged.get(row.signature_id) ?? row.signature_id;
      // What became part of another stays there, unless that is nothing but what it became by an earlier map of the same build.
      if (from !== row.signature_id && (from === group.id || (await hasEvents(clickhouse, { organizationId, serviceId: row.service_id, signatureId: from })))) continue;
      const { mapped: _, ...rest } = group;
      const known = await inTransaction(database, async (tx) => {
        const [frames] = await withContexts(tx, organizationId, [group.frames]);
        return moveSignature(tx, from, { ...rest, frames: frames!, stackTrace: row.stack });
      });
      if (known && group.id !== from) moved++;
    }
    return moved;
  }

  return repeat({
    pauseMs: config.SCHEDULER_TICK_MS,
    untilDue: looks.add((now) => sql`exists (select from ${lateSourceMaps} where ${lateSourceMaps.dueAt} <= ${now})`),
    work: next,
    onError(error) {
      const away = isPostgresAway(error) || error instanceof TriedAgain;
      log[away ? "debug" : error instanceof ClickHouseUnavailable ? "warn" : "error"]({ err: error }, "could not look through the errors from before an upload; trying again");
    },
  });
}

/**
 * The program of the embedded ClickHouse's own process: the engine behind ClickHouse's HTTP interface on loopback, with a
 * password that only the parent hears. Forked by `start-embedded.ts` with the data folder, and how long
 * to wait for it in ms, as its arguments.
 * It ends when the parent's channel closes, so that a killed Pharos leaves nothing behind.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, openSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { tryLockFile } from "../file-lock.ts";
import { makeHttpInterface } from "./embedded/http-interface.ts";
import { openFileInserts } from "./embedded/insert-through-file.ts";
import { PASSWORD_VARIABLE } from "./embedded/password-variable.ts";
import { makeStatementRunner } from "./embedded/run-statement.ts";
import { openSessionPool } from "./embedded/session-pool.ts";

/** What the child tells its parent. */
export type EmbeddedMessage = { kind: "ready"; port: number; password: string } | { kind: "failed"; reason: "locked" | "folder" | "engine"; message: string };

/** Statements at a time; more wait for their turn. */
const SESSIONS = 16;
/** How long running statements may take to end when we stop. */
const DRAIN_MS = 8_000;
/** A SIGTERM to the whole group reaches us before the parent has drained into us: how long it may still use us. */
const PARENT_GRACE_MS = 15_000;

function tell(message: EmbeddedMessage): Promise<void> {
  return new Promise((told) => (process.connected && process.send ? process.send(message, () => told()) : told()));
}

/** Tells the parent why, then ends the process. */
async function fail(reason: "locked" | "folder" | "engine", error: unknown): Promise<never> {
  await tell({ kind: "failed", reason, message: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

/** Holds the folder by an OS lock, which dies with the process; two engines in one folder would corrupt it. */
async function lockFolder(folder: string, waitMs: number): Promise<void> {
  const descriptor = openSync(join(folder, "lock"), "a+");
  const deadline = performance.now() + waitMs;
  while (!tryLockFile(descriptor)) {
    if (performance.now() > deadline) await fail("locked", "another process holds it");
    await pause(50);
  }
}

async function serve(folder: string, lockWaitMs: number): Promise<() => Promise<void>> {
  const rows = join(folder, "inserts");
  try {
    mkdirSync(rows, { recursive: true, mode: 0o700 });
    await lockFolder(folder, lockWaitMs);
    process.chdir(rows);
  } catch (error) {
    return fail("folder", error);
  }
  try {
    const pool = openSessionPool(join(folder, "engine"), SESSIONS);
    await pool.runAside("SELECT 1");
    const runner = makeStatementRunner({ pool, inserts: await openFileInserts({ pool, folder: rows }) });
    const password = process.env[PASSWORD_VARIABLE] ?? randomBytes(24).toString("hex");
    const server = makeHttpInterface({ runner, password });
    await new Promise<void>((listening, refused) => server.once("error", refused).listen(0, "127.0.0.1", listening));
    await tell({ kind: "ready", port: (server.address() as AddressInfo).port, password });
    return async () => {
      server.close();
      server.closeIdleConnections();
      await Promise.race([runner.idle(), pause(DRAIN_MS)]);
      pool.close();
      server.closeAllConnections();
    };
  } catch (error) {
    return fail("engine", error);
  }
}

const [, , folder = ".", lockWaitMs = "0"] = process.argv;
const stopping = serve(resolve(folder), Number(lockWaitMs));
let stopped = false;

function stop(): void {
  if (stopped) return;
  stopped = true;
  void stopping.then((close) => close()).finally(() => process.exit(0));
}

process.on("message", (message) => message === "stop" && stop());
process.on("disconnect", stop);
// Ctrl-C reaches the whole group; the parent decides when we are no longer needed.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => (process.connected ? void setTimeout(stop, PARENT_GRACE_MS).unref() : stop()));

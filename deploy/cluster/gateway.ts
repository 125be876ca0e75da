import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { StartFailure } from "../../platform/start-failure.ts";
import { startGuarded, type Guarded } from "./guarded.ts";

const SHIPPED = join(PROJECT_ROOT, "deploy", "nginx");
/** Where nginx is although a user's PATH may not say so. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

interface GatewayNeeds {
  /** For its pid, its temporary files and its configuration; made when missing. */
  folder: string;
  logFile: string;
  host: string;
  port: number;
  edgePorts: readonly number[];
  controlPlanePorts: readonly number[];
}

/** nginx with the shipped files and the addresses of these processes. */
export async function startGateway({ folder, logFile, host, port, edgePorts, controlPlanePorts }: GatewayNeeds): Promise<Guarded> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of ["nginx.conf", "gateway.conf"]) await copyFile(join(SHIPPED, name), join(folder, name));
  const servers = (ports: readonly number[]) => ports.map((each) => `server 127.0.0.1:${each} max_fails=2 fail_timeout=2s;\n`).join("");
  await writeFile(join(folder, "listen.conf"), `listen ${host.includes(":") ? `[${host}]` : host}:${port};\n`);
  await writeFile(join(folder, "edges.conf"), servers(edgePorts));
  await writeFile(join(folder, "control-planes.conf"), servers(controlPlanePorts));

  return runNginx(folder, logFile);
}

/** Runs nginx on the `nginx.conf` of a folder, once it has judged it; throws StartFailure with its words when it refuses. */
export async function runNginx(folder: string, logFile: string): Promise<Guarded> {
  const nginx = findNginx();
  if (nginx === null) throw new StartFailure("There is no nginx for the gateway.", { fix: "Run scripts/install-nginx (Debian and Ubuntu), or install nginx 1.22 or later by other means." });
  const options = ["-p", `${folder}/`, "-c", join(folder, "nginx.conf")];
  const judged = spawnSync(nginx, [...options, "-t"], { encoding: "utf8" });
  if (judged.status !== 0) throw new StartFailure("nginx refuses the gateway's configuration.", { fix: "Its last words are below.", lines: judged.stderr.trim().split("\n").slice(-5) });
  return startGuarded({ command: [nginx, ...options, "-g", "daemon off;"], cwd: folder, env: process.env, logFile, orphaned: "TERM" });
}

/** nginx's program, or null where there is none. */
export function findNginx(): string | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, "nginx")).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

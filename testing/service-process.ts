import { execFile, spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROJECT_ROOT } from "../platform/root.ts";
import { TEST_SECRETS_KEY } from "./secrets-key.ts";

/** The programs as `npm start` and `npm run pharos` run them. */
export const SERVICE_PROGRAM = join(PROJECT_ROOT, "dist/main.js");
export const COMMAND_LINE_PROGRAM = join(PROJECT_ROOT, "dist/clients/cli/main.js");

/** Compiles to dist/, which is quick when nothing changed. */
export async function buildService(): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/build.mjs"], { cwd: PROJECT_ROOT });
}

/** Pharos in a process of its own, as `npm start` runs it. */
export interface ServiceProcess {
  child: ChildProcess;
  base: string;
  edge: string;
  /** What it has printed so far, both streams. */
  output(): string;
  /** Resolves with the exit code or the signal that ended it. */
  exited: Promise<number | string>;
}

export function serviceEnvironment(dataFolder: string, settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, PHAROS_DATA_DIR: dataFolder, PORT: "0", EDGE_PORT: "0", LOG_LEVEL: "warn", METRICS_WAIT_MS: "60000", QUIET_BATCH_MS: "0", SECRETS_KEY: TEST_SECRETS_KEY, ...settings };
}

/** Starts it and waits until it says that it is ready; rejects with its output when it ends before. */
export async function startServiceProcess(environment: NodeJS.ProcessEnv, program = SERVICE_PROGRAM): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [program], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const exited = new Promise<number | string>((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code ?? -1)));
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      if (/Pharos is ready\.[\s\S]*Fast ingest .*\n/.test(text)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void exited.then((code) => reject(new Error(`Pharos ended with ${code} before it was ready:\n${text}`)));
  });
  return { child, base: /Start page\s+(\S+?)\/\n/.exec(text)![1]!, edge: /Fast ingest\s+(\S+)/.exec(text)![1]!, output: () => text, exited };
}

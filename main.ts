import { readConfig } from "./platform/config.ts";
import { makeLog } from "./platform/log.ts";
import { StartFailure } from "./platform/start-failure.ts";
import { greeting } from "./roles/greeting.ts";
import { startPharos, type Pharos } from "./roles/start.ts";

const read = readConfig(process.env);
if ("faults" in read) {
  console.error(["Pharos cannot start with these settings:", ...read.faults.map((fault) => `  ${fault}`), "docs/configuration.md describes every setting."].join("\n"));
  process.exit(1);
}
const { config } = read;
const log = makeLog(config.LOG_LEVEL);

let pharos: Pharos | null = null;
let stopping = false;

function stop(reason: string, exitCode: number): void {
  if (stopping) {
    log.warn({ reason }, "stopping at once");
    pharos?.abandon();
    process.exit(exitCode || 1);
  }
  stopping = true;
  log.info({ reason }, "stopping");
  const limit = setTimeout(() => {
    log.error({ ms: config.SHUTDOWN_LIMIT_MS }, "the stop took too long and is forced");
    pharos?.abandon();
    process.exit(1);
  }, config.SHUTDOWN_LIMIT_MS);
  void (pharos ? pharos.stop() : Promise.resolve()).then(() => {
    clearTimeout(limit);
    process.exit(exitCode);
  });
}

process.on("SIGTERM", () => stop("SIGTERM", 0));
process.on("SIGINT", () => stop("SIGINT", 0));
process.on("unhandledRejection", (error) => {
  log.fatal({ err: error }, "a failure was not handled");
  stop("unhandled failure", 1);
});

try {
  pharos = await startPharos({ config, log, onLost: (sentence) => (log.fatal(sentence), stop(sentence, 1)) });
  if (stopping) stop("stopped while starting", 0);
  else console.log(greeting(pharos));
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  console.error(error.message);
  process.exit(1);
}

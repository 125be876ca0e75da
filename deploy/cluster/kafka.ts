import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { StartFailure } from "../../platform/start-failure.ts";
import { accepts, freePort, JAVA, JAVA_OPTIONS, serverProperties, whyNoKafka } from "../../testing/kafka.ts";
import { startGuarded, type Guarded } from "./guarded.ts";

const START_MS = 90_000;
/** The cluster id of KRaft: 16 bytes in base64url. */
const CLUSTER_ID = "cGhhcm9zLWNsdXN0ZXIxMg";

export interface ClusterKafka {
  /** host:port */
  address: string;
  broker: Guarded;
}

/** One real broker whose data stays in `folder`; it listens on loopback, on another port at each start. */
export async function startClusterKafka(folder: string, logFile: string): Promise<ClusterKafka> {
  const reason = whyNoKafka();
  if (reason !== null) throw new StartFailure(`Kafka cannot be started: ${reason}.`, { fix: "Run scripts/install-kafka, which copies Kafka's jars to .cache/kafka by Maven and installs Java and Maven where apt-get may." });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [port, controllerPort] = [await freePort(), await freePort()];
  const properties = join(folder, "server.properties");
  await writeFile(properties, serverProperties(join(folder, "data"), port, controllerPort));
  const format = ["kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", CLUSTER_ID, "-c", properties];
  const formatted = spawnSync(JAVA, [...JAVA_OPTIONS, ...format], { cwd: folder, encoding: "utf8" });
  if (formatted.status !== 0) throw new StartFailure(`Kafka's folder ${folder} cannot be formatted.`, { fix: "Its last words are below.", lines: `${formatted.stdout}${formatted.stderr}`.trim().split("\n").slice(-8) });

  // Kafka recovers from a kill, and one that lived on would keep its folder from the next start.
  const broker = await startGuarded({ command: [JAVA, ...JAVA_OPTIONS, "kafka.Kafka", properties], cwd: folder, env: process.env, logFile, orphaned: "KILL" });
  for (const deadline = performance.now() + START_MS; !(await accepts(port)); await wait(100)) {
    if (broker.running() && performance.now() < deadline) continue;
    await broker.end("SIGKILL", 0);
    throw new StartFailure("Kafka did not start.", { fix: `Its output is in ${logFile}.` });
  }
  return { address: `127.0.0.1:${port}`, broker };
}

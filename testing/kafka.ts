import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../platform/require-free-port.ts";
import { PROJECT_ROOT } from "../platform/root.ts";

/** Kafka's jars, as `scripts/install-kafka` copies them. */
const LIBRARIES = process.env.PHAROS_TEST_KAFKA_LIBS ?? join(PROJECT_ROOT, ".cache", "kafka");
export const JAVA = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, "bin", "java") : "java";
const START_MS = 60_000;

/** Whether a real broker can be started here. Throws instead of saying no when PHAROS_TEST_REQUIRE names kafka. */
export function kafkaAvailable(): { available: true } | { available: false; reason: string } {
  const reason = whyNoKafka();
  if (reason === null) return { available: true };
  if (process.env.PHAROS_TEST_REQUIRE?.split(",").includes("kafka")) throw new Error(`Kafka is required by PHAROS_TEST_REQUIRE but cannot be started: ${reason}`);
  return { available: false, reason };
}

/** Why no broker can be started here; null when one can. */
export function whyNoKafka(): string | null {
  if (!existsSync(LIBRARIES) || !readdirSync(LIBRARIES).some((name) => name.startsWith("kafka_2.13-"))) return `there are no Kafka jars in ${LIBRARIES} (scripts/install-kafka copies them)`;
  if (spawnSync(JAVA, ["-version"]).status !== 0) return "there is no java";
  return null;
}

export interface Kafka {
  brokers: string[];
  /** Ends the broker in good order; `start` brings it back with its data on the same port. */
  halt(): Promise<void>;
  /** kill -9; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** The broker stands still, its connections stay open; resolves when the last of its threads does. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it for good and deletes its data. */
  stop(): Promise<void>;
}

interface KafkaOptions {
  /** Settings of the broker beside ours, or in their place; with those of its listeners. */
  settingsFor?(ports: { port: number; controllerPort: number }): Record<string, string>;
  /** More arguments for formatting its storage. */
  format?: readonly string[];
}

/** One real broker in KRaft mode with data of its own; it ends with this process, whatever ends that. */
export async function startKafka({ settingsFor, format = [] }: KafkaOptions = {}): Promise<Kafka> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-kafka-"));
  const [port, controllerPort] = await Promise.all([freePort(), freePort()]);
  const properties = join(folder, "server.properties");
  await writeFile(properties, serverProperties(join(folder, "data"), port, controllerPort, settingsFor?.({ port, controllerPort })));
  const formatted = spawnSync(JAVA, [...JAVA_OPTIONS, "kafka.tools.StorageTool", "format", "-t", "cGhhcm9zLXRlc3Qta2Fma2E", "-c", properties, ...format], { encoding: "utf8" });
  if (formatted.status !== 0) throw new Error(`Kafka's storage could not be formatted: ${formatted.stdout}${formatted.stderr}`);

  let broker: Broker | null = null;
  const start = async (): Promise<void> => {
    broker = await startBroker(folder, properties, port);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await broker?.end(signal);
    broker = null;
  };
  await start();
  return {
    brokers: [`127.0.0.1:${port}`],
    start,
    halt: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    async freeze() {
      process.kill(broker!.pid, "SIGSTOP");
      // Each thread stops when it is scheduled next: on a busy machine one may answer a request that comes after the signal.
      while (!standsStill(broker!.pid)) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    thaw: () => void (broker && process.kill(broker.pid, "SIGCONT")),
    async stop() {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const JAVA_OPTIONS = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", join(LIBRARIES, "*")];

/** Settings of one broker that is its own controller. */
export function serverProperties(data: string, port: number, controllerPort: number, more: Record<string, string> = {}): string {
  return Object.entries({
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "log.dirs": data,
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    ...more,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

interface Broker {
  pid: number;
  end(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Java runs under a shell that kills it when its standard input closes: the system closes it when this process ends,
 * by kill -9 too, where no handler of ours would run.
 */
async function startBroker(folder: string, properties: string, port: number): Promise<Broker> {
  const script = '"$@" >"$0" 2>&1 & echo $!; read -r _; kill -9 $!';
  const output = join(folder, "kafka.log");
  const guard = spawn("sh", ["-c", script, output, JAVA, ...JAVA_OPTIONS, "kafka.Kafka", properties], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  const pid = Number(await firstLine(guard));
  const deadline = performance.now() + START_MS;
  while (!(await accepts(port))) {
    if (!isAlive(pid) || performance.now() > deadline) {
      guard.stdin.end();
      throw new Error(`Kafka did not start; its output is in ${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    pid,
    async end(signal) {
      // A process that stands still would not hear SIGTERM.
      process.kill(pid, "SIGCONT");
      process.kill(pid, signal);
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
      guard.stdin.end();
      if (guard.exitCode === null) await new Promise((resolve) => guard.once("exit", resolve));
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.stdout!.once("data", (chunk: Buffer) => resolve(chunk.toString()));
  });
}

function isAlive(pid: number): boolean {
  // A process that has ended but was not waited for by the shell still has a number; its state tells.
  return spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim().replace(/^Z.*/, "") !== "";
}

/** Whether every thread is stopped; where the system does not tell of threads, whether the process is. */
function standsStill(pid: number): boolean {
  const threads = `/proc/${pid}/task`;
  const states = existsSync(threads)
    ? readdirSync(threads).map((thread) => readFileSync(join(threads, thread, "stat"), "latin1").replace(/^.*\) /s, ""))
    : [spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim()];
  return states.every((state) => state.startsWith("T"));
}

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

export function freePort(): Promise<number> {
  return findFreePort("127.0.0.1");
}

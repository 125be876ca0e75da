import kafkajs from "kafkajs";
import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const FRAMES: Record<Form, number> = { short: 40, long: 2_000 };
const PAUSE_MS = 25;
const PARTITIONS = 4;
const DEAD_LETTER_MS = 60_000;

/** Fault h: records that are no frames among the good ones; each is to be on the dead-letter topic with its reason, and its bytes. */
export function poison(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "h: poison records", eventsPerSecond: 1_000, recoverMs: 60_000 }, async ({ load, want }) => {
    const client = new kafkajs.Kafka({ clientId: "poison", brokers: stage.kafka.brokers, logLevel: kafkajs.logLevel.NOTHING });
    const producer = client.producer();
    const letters = await readDeadLetters(client);
    const before = load.settled();
    await producer.connect();
    for (let number = 0; number < FRAMES[form]; number++) {
      await producer.send({ topic: "pharos.beacons", acks: -1, messages: [{ partition: number % PARTITIONS, value: Buffer.from(`poison ${number}`) }] });
      await wait(PAUSE_MS);
    }
    const good = load.settled() - before;
    await producer.disconnect();
    const poisoned = () => letters.seen.filter(({ text }) => text.startsWith("poison "));
    for (const deadline = performance.now() + DEAD_LETTER_MS; poisoned().length < FRAMES[form] && performance.now() < deadline; ) await wait(100);
    await letters.stop();
    want(new Set(poisoned().map(({ text }) => text)).size === FRAMES[form], `${poisoned().length} of ${FRAMES[form]} poison records are on the dead-letter topic`);
    want(poisoned().every(({ reason }) => reason !== ""), "a dead letter has no reason");
    return `${FRAMES[form]} broken records among ${good} requests`;
  });
}

interface DeadLetters {
  seen: { reason: string; text: string }[];
  stop(): Promise<void>;
}

async function readDeadLetters(client: InstanceType<typeof kafkajs.Kafka>): Promise<DeadLetters> {
  const consumer = client.consumer({ groupId: "faults" });
  const seen: DeadLetters["seen"] = [];
  await consumer.connect();
  await consumer.subscribe({ topic: "pharos.dead-letter", fromBeginning: true });
  await consumer.run({
    async eachMessage({ message }) {
      const text = message.value?.toString() ?? "";
      const end = text.indexOf("\n");
      seen.push({ reason: (JSON.parse(text.slice(0, end)) as { reason: string }).reason, text: text.slice(end + 1) });
    },
  });
  return { seen, stop: () => consumer.disconnect() };
}

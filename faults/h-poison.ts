import kafkajs from "kafkajs";
import { setTimeout as wait } from "node:timers/promises";
import { countDeadLetters, listDeadLetters } from "../domain/dead-letters/list-dead-letters.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const FRAMES: Record<Form, number> = { short: 40, long: 2_000 };
const PAUSE_MS = 25;
const PARTITIONS = 4;
const DEAD_LETTER_MS = 60_000;

/** Fault h: records that are no frames among the good ones; each becomes one dead letter, with its reason and its bytes. */
export function poison(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "h: poison records", eventsPerSecond: 1_000, recoverMs: 60_000 }, async ({ load, want }) => {
    const client = new kafkajs.Kafka({ clientId: "poison", brokers: stage.kafka.brokers, logLevel: kafkajs.logLevel.NOTHING });
    const producer = client.producer();
    const before = load.settled();
    await producer.connect();
    for (let number = 0; number < FRAMES[form]; number++) {
      await producer.send({ topic: "pharos.beacons", acks: -1, messages: [{ partition: number % PARTITIONS, value: Buffer.from(`poison ${number}`) }] });
      await wait(PAUSE_MS);
    }
    const good = load.settled() - before;
    await producer.disconnect();
    const filter = { topic: "beacons", consumerGroup: "errors" };
    for (const deadline = performance.now() + DEAD_LETTER_MS; (await countDeadLetters(stage.database, filter)).open < FRAMES[form] && performance.now() < deadline; ) await wait(100);
    const texts = new Set<string>();
    let letters = 0;
    for await (const { reason, bytes } of listDeadLetters(stage.database, filter, 2 * FRAMES[form])) {
      letters += 1;
      if (reason !== "") texts.add(bytes.toString());
    }
    const kept = Array.from({ length: FRAMES[form] }, (_, number) => `poison ${number}`).filter((text) => texts.has(text)).length;
    want(kept === FRAMES[form], `${kept} of ${FRAMES[form]} poison records are dead letters with a reason`);
    want(letters === FRAMES[form], `${letters} dead letters of ${FRAMES[form]} poison records`);
    return `${FRAMES[form]} broken records among ${good} requests`;
  });
}

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kafkaAvailable } from "../testing/kafka.ts";
import { killAtRandom } from "./a-kill.ts";
import { kafkaAway } from "./b-kafka-away.ts";
import type { FaultResult } from "./fault.ts";
import { poison } from "./h-poison.ts";
import { stopUnderLoad } from "./j-sigterm.ts";
import { startStage, type Stage } from "./stage.ts";

/** What depends on how fast the machine is belongs to `npm run test:faults`, not to a test. */
const TIMED = /p99|was answered .* after|a stop took/;

describe.runIf(kafkaAvailable().available)("faults under load, short forms", () => {
  let stage: Stage;
  beforeAll(async () => void (stage = await startStage()), 240_000);
  afterAll(() => stage?.stop(), 90_000);

  function expectNothingMissed({ acked, lost, doubled, missed }: FaultResult): void {
    expect({ lost, doubled, missed: missed.filter((sentence) => !TIMED.test(sentence)) }).toEqual({ lost: 0, doubled: 0, missed: [] });
    expect(acked).toBeGreaterThan(500);
  }

  test("poison records stop no partition and are kept with their reason", async () => expectNothingMissed(await poison(stage, "short")), 240_000);
  test("SIGTERM at full load loses nothing", async () => expectNothingMissed(await stopUnderLoad(stage, "short")), 240_000);
  test("kill -9 at random loses and doubles nothing", async () => expectNothingMissed(await killAtRandom(stage, "short")), 240_000);
  test("with Kafka away all is taken, and counted once afterwards", async () => expectNothingMissed(await kafkaAway(stage, "short")), 240_000);
});

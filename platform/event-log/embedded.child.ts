import { writeSync } from "node:fs";
import { systemClock } from "../clock.ts";
import { makeLog } from "../log.ts";
import { openEmbeddedLog } from "./embedded.ts";
import { LogUnavailable } from "./port.ts";

// Appends without end to every partition, each record its own number, and says on standard output what was acknowledged
// (`partition number`) and what was refused (`refused reason`). The test kills it.
const [folder] = process.argv.slice(2) as [string];
const eventLog = await openEmbeddedLog({ folder, partitions: 3, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log: makeLog("silent") });
const ends = await eventLog.ends("beacons");

async function appendForever(partition: number, first: number): Promise<never> {
  for (let number = first; ; ) {
    try {
      await eventLog.append("beacons", partition, Buffer.alloc(20_000 + (number % 7) * 5_000, `${partition}:${number};`));
      writeSync(1, `${partition} ${number}\n`);
      number += 1;
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      writeSync(1, `refused ${error.message}\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await Promise.all(ends.map((end, partition) => appendForever(partition, Number(end))));

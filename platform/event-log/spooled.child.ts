import { systemClock } from "../clock.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { encodeFrame } from "./frame.ts";
import { LogUnavailable, type EventLog } from "./port.ts";
import { openSpool, SPOOL_LIMITS } from "./spooled.ts";

/**
 * For tests: an edge whose log is away. Spools numbered frames on three partitions without end, into the folder that it is
 * given, and prints `<partition> <sequence>` for each that is on the disk, until it is killed.
 */
const [folder] = process.argv.slice(2) as [string];
const eventLog = { partitions: () => 3, append: () => Promise.reject(new LogUnavailable("away")) } as unknown as EventLog;
const spool = await openSpool({ eventLog, folder, limits: { ...SPOOL_LIMITS, bytes: 1e9, appendMs: 100 }, clock: systemClock, log: makeLog("silent") });
const edgeId = newId();
process.stdout.write(`edge ${edgeId}\n`);

async function appendForever(partition: number): Promise<never> {
  for (let sequence = 1n; ; sequence++) {
    const entry = { requestNumber: 0, receivedAt: 1_000, detached: true, organizationId: edgeId, subjectId: edgeId, body: Buffer.alloc(1_000) };
    await spool.append("beacons", partition, encodeFrame({ edgeId, sequence }, [entry]), 1_000);
    process.stdout.write(`${partition} ${sequence}\n`);
  }
}
await Promise.all([0, 1, 2].map(appendForever));

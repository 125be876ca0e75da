// Run by kill-scheduler.flow.test.ts: the part of a scheduler that checks uptime monitors, in a process of its own that is killed.
import { makeUptimeProbe } from "../../domain/monitors/uptime/probe.ts";
import { systemClock } from "../../platform/clock.ts";
import { makeLog } from "../../platform/log.ts";
import { openDatabase } from "../../platform/postgres/database.ts";
import { useSecretsKeys } from "../../schemas/tables/sealed.ts";
import { runDueMonitors } from "./run-due.ts";
import { uptimeRunner } from "./run-uptime.ts";

const [databaseUrl, leaseMs, atOnce] = process.argv.slice(2) as [string, string, string];

useSecretsKeys({ key: Buffer.from(process.env.SECRETS_KEY!, "base64"), fallback: null });
const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const database = openDatabase(databaseUrl, 5, log);
const runner = uptimeRunner(makeUptimeProbe({ OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_CA_FILE: null }));
const monitors = runDueMonitors({ database, clock: systemClock, config: { SCHEDULER_TICK_MS: 20 }, log, runner: { ...runner, leaseMs: Number(leaseMs), atOnce: Number(atOnce) } });
monitors.start();
process.stdout.write("checking\n");
process.on("SIGTERM", () => void monitors.stop().then(() => process.exit(0)));

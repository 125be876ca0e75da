// `npm run test:upgrade`: an installation of the version before batches, killed amid its work, becomes
// this version. Nothing that was taken in may be lost or counted twice.
import { rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { makeRunFolder } from "../../testing/run-folder.ts";
import { startDataStores } from "./data-stores.ts";
import { judgeErrors, judgeHistory, judgeLetters } from "./judge-upgrade.ts";
import { killUnderLoad } from "./kill-old-service.ts";
import { leaveRangesOpen, startBesides } from "./leave-open-ranges.ts";
import { prepareOldVersion } from "./old-version.ts";
import { endServices } from "./started-services.ts";
import { askUpgraded, startUpgraded } from "./upgraded-service.ts";

/** How long an old processor may try to do harm beside the new one. */
const BESIDE_MS = 5_000;

const began = performance.now();
const missed: string[] = [];
const want = (reached: boolean, sentence: string): void => void (reached || missed.push(sentence));
const tell = (sentence: string): void => console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${sentence}`);

async function tryUpgrade(folder: string): Promise<void> {
  const old = await prepareOldVersion();
  tell("the old version is compiled");
  const loaded = await killUnderLoad(old, folder, tell);
  const stores = await startDataStores(folder);
  const open = await leaveRangesOpen({ old, folder, stores, loaded, tell });
  const besides = await startBesides({ old, folder, stores, loaded });
  tell("an old processor runs beside, amid an insert");

  const upgraded = await startUpgraded(folder, stores);
  tell("the new version is ready on the same data");
  const killed = await besides.told("ended");
  want(killed.ok === false, "the insert of the old processor beside came through after the takeover");
  besides.append(open.besideFrame);
  await besides.told("appended");
  await upgraded.repeat(loaded.retries);
  await upgraded.untilProcessed(stores);
  tell("everything is processed");
  await wait(BESIDE_MS);
  besides.kill();

  await judgeErrors(stores, loaded, open, want);
  await judgeHistory(stores, loaded, open, want);
  await judgeLetters(stores, open, want);
  await upgraded.stop();
  await stores.stop();
  tell("compared");
  await askUpgraded(folder, { loaded, open, want });
  tell("the new version is asked on its embedded stores");
}

const folder = await makeRunFolder("upgrade");
try {
  await tryUpgrade(folder);
} catch (error) {
  missed.push(error instanceof Error ? error.message : String(error));
}
await endServices();
// What a failed run has left ends by itself, and the next run removes its folder.
await rm(folder, { recursive: true, force: true }).catch(() => undefined);
for (const sentence of missed) console.error(`!! ${sentence}`);
console.log(missed.length === 0 ? "The upgrade lost nothing and counted nothing twice." : "The upgrade failed.");
process.exit(missed.length === 0 ? 0 : 1);

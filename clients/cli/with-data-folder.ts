import type { Config } from "../../platform/config.ts";
import { claimDataFolder, type DataFolder } from "../../platform/data-folder.ts";
import { StartFailure } from "../../platform/start-failure.ts";

/**
 * Runs `work` while this process holds the data folder, or, when a running Pharos holds it, with
 * the failure that says so.
 */
export async function withDataFolder<T>(
  config: Config,
  work: (heldByAnother: StartFailure | null) => Promise<T>,
): Promise<T> {
  let claimed: DataFolder;
  try {
    claimed = await claimDataFolder(config.PHAROS_DATA_DIR);
  } catch (held) {
    if (!(held instanceof StartFailure)) throw held;
    return work(held);
  }
  try {
    return await work(null);
  } finally {
    await claimed.release();
  }
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { PROJECT_ROOT } from "../platform/root.ts";

/** The browser SDK as the service serves it, made from its sources where they have changed. */
export default async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/bundle-sdk.mjs"], { cwd: PROJECT_ROOT });
}

import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { makeLog } from "../platform/log.ts";
import { makeRunFolder } from "./run-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's embedded ClickHouse; each test makes a database of its own in it. */
    clickhouseUrl: string;
  }
}

/** One embedded ClickHouse for the whole run, in a folder of its own that goes away with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await makeRunFolder("clickhouse");
  const engine = await startEmbeddedClickHouse({ folder, log: makeLog("silent") });
  project.provide("clickhouseUrl", engine.url);
  return async () => {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

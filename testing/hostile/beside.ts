import { fork } from "node:child_process";
import { once } from "node:events";
import { LOADER_ARGUMENTS, moduleFile } from "../../platform/root.ts";
import type { ServiceProcess } from "../service-process.ts";
import type { Tenant } from "./hostile-tenant.ts";

/** What the tenant beside felt. */
export interface Felt {
  /** Slowest hundredth of its requests, in ms. */
  p99: number;
  requests: number;
  /** Requests that did not succeed. */
  failed: string[];
}

/** Where the tenant beside asks, and as whom. */
export interface BesideNeeds {
  base: string;
  edge: string;
  tenant: Tenant;
  slug: string;
}

/** A tenant beside that reads its services and its page and pushes, ten times a second each. */
export interface Beside {
  /** Begins to measure; `stop` gives what it felt since. */
  watch(): { stop(): Promise<Felt> };
  end(): void;
}

/**
 * Starts the tenant beside in a process of its own: in the one that plays the hostile tenant it would wait
 * for a thousand requests to be made before any of its own is.
 */
export async function startBeside({ base, edge }: Pick<ServiceProcess, "base" | "edge">, tenant: Tenant, slug: string): Promise<Beside> {
  const file = moduleFile("./beside.child.ts", import.meta.url);
  const child = fork(file, [JSON.stringify({ base, edge, tenant, slug } satisfies BesideNeeds)], { execArgv: LOADER_ARGUMENTS });
  await once(child, "message");
  return {
    watch() {
      child.send("watch");
      return {
        async stop() {
          const felt = once(child, "message");
          child.send("stop");
          return (await felt)[0] as Felt;
        },
      };
    },
    end: () => void child.kill(),
  };
}

import { DOMAIN_BATCH, recheckDomains } from "../../domain/status-pages/recheck-domains.ts";
import { claimPeriodic } from "../../platform/claim-periodic.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import type { ResolveTxt } from "../../platform/resolve-txt.ts";

interface DomainNeeds {
  database: Database;
  resolveTxt: ResolveTxt;
  clock: Clock;
  log: Log;
  /** How often it is looked whether the work is due, in ms. */
  pauseMs?: number;
}

const NAME = "domains";
const EVERY_MS = 10 * 60_000;
/** A batch of 500 domains, ten at a time, whose name servers do not answer takes four minutes. */
const LEASE_MS = 10 * 60_000;

/** Looks again and again for the proofs of custom domains. One scheduler of all does it at a time. */
export function keepDomains({ database, resolveTxt, clock, log, pauseMs = 30_000 }: DomainNeeds): Repeating {
  return repeat({
    pauseMs,
    async work(stopping) {
      const claim = await claimPeriodic(database, { name: NAME, everyMs: EVERY_MS, leaseMs: LEASE_MS }, new Date(clock.now()));
      if (!claim) return;
      let dueInMs = 0;
      try {
        const looked = await recheckDomains({ database, resolveTxt }, new Date(clock.now()), stopping);
        if (!stopping.aborted && looked < DOMAIN_BATCH) dueInMs = EVERY_MS;
      } finally {
        await claim.release(dueInMs);
      }
    },
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for the proofs of custom domains; trying again"),
  });
}

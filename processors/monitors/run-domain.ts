import { inArray } from "drizzle-orm";
import { keepAnswers } from "../../domain/monitors/domain/keep-answers.ts";
import { LOOK_UP_LIMIT_MS, makeLookUp } from "../../domain/monitors/domain/look-up.ts";
import { recordDomainCheck } from "../../domain/monitors/domain/record.ts";
import type { Lookup } from "../../domain/monitors/domain/registration.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Log } from "../../platform/log.ts";
import { domainMonitors } from "../../schemas/tables/all.ts";
import type { LookupMethod } from "../../schemas/vocabulary.ts";
import type { MonitorRunner } from "./run-due.ts";

interface DomainRow {
  id: string;
  organizationId: string;
  domain: string;
  lookupMethod: LookupMethod;
}

interface DomainRunnerNeeds {
  config: Pick<Config, "OUTBOUND_ALLOW" | "OUTBOUND_PORTS" | "OUTBOUND_CA_FILE" | "RDAP_BOOTSTRAP_URL" | "WHOIS_ROOT" | "REGISTRY_PAUSE_MS">;
  clock: Clock;
  log: Log;
}

const RECORD_MS = 15_000;

/** Few: most wait for their turn at one of the large registries, and the wait counts for the lease. */
const AT_ONCE = 4;

/** How domain monitors are checked. Throws when OUTBOUND_CA_FILE cannot be read. */
export function domainRunner({ config, clock, log }: DomainRunnerNeeds): MonitorRunner<DomainRow, Lookup> {
  const lookUp = keepAnswers(makeLookUp({ config, log }), clock);
  return {
    table: domainMonitors,
    leaseMs: LOOK_UP_LIMIT_MS + RECORD_MS,
    atOnce: AT_ONCE,
    read: (database, ids) => database.select({ id: domainMonitors.id, organizationId: domainMonitors.organizationId, domain: domainMonitors.domain, lookupMethod: domainMonitors.lookupMethod }).from(domainMonitors).where(inArray(domainMonitors.id, ids)),
    check: ({ domain, lookupMethod }, signal) => lookUp(domain, lookupMethod, signal),
    record: (database, { id }, claim) => recordDomainCheck(database, id, claim),
  };
}

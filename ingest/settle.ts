import type { ClickHouse } from "../platform/clickhouse/port.ts";
import type { ClientAddress } from "../platform/client-address.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import type { FrameEntry } from "../platform/event-log/frame.ts";
import type { WritableLog } from "../platform/event-log/port.ts";
import { Failure } from "../platform/failures.ts";
import type { Log } from "../platform/log.ts";
import { isPostgresAway, type Database } from "../platform/postgres/database.ts";
import type { RateLimit } from "../platform/rate-limit.ts";
import type { Topic } from "../schemas/vocabulary.ts";
import type { AuthenticateNeeds } from "./authenticate.ts";
import type { Batcher } from "./batcher.ts";
import type { Exchange } from "./exchange.ts";
import type { Floods } from "./floods.ts";
import type { CredentialCache } from "./credential-cache.ts";
import type { Replies } from "./replies.ts";

/** What the three accept paths use. */
export interface EdgeNeeds {
  config: Config;
  clock: Clock;
  log: Log;
  database: Database;
  clickhouse: ClickHouse;
  eventLog: WritableLog;
  credentials: CredentialCache;
  batcher: Batcher;
  replies: Replies;
  floods: Floods;
  rateLimit: RateLimit;
  clientAddress: ClientAddress;
  authentication: AuthenticateNeeds;
  /** Spreads entries that no retry will ever name again. */
  anyPartition(topic: Topic): number;
  failureOf(error: unknown, exchange: Exchange): Failure;
}

/** Puts an entry into the log and answers when its fate is known: `onDurable` hears whether it is in the log or still on its way there. */
export function settle(
  needs: EdgeNeeds,
  exchange: Exchange,
  topic: Topic,
  partition: number,
  entry: FrameEntry,
  onDurable: (fate: "logged" | "spooled") => void,
  onNotTaken: () => void = () => {},
): void {
  const taken = needs.batcher.add(topic, partition, entry, (fate) => {
    if (fate === "logged" || fate === "spooled") return onDurable(fate);
    onNotTaken();
    if (fate === "refused") exchange.fail(logAway());
    else exchange.cut();
  });
  if (taken) return;
  onNotTaken();
  exchange.fail(logAway());
}

function logAway(): Failure {
  return new Failure("UNAVAILABLE", "This could not be stored and was not taken in.", { retryAfter: 2, fix: "Send it again." });
}

/** What to answer for an error in a handler; what is not a Failure is logged under the request's id. */
export function makeFailureOf(log: Log): EdgeNeeds["failureOf"] {
  return (error, exchange) => {
    if (error instanceof Failure) return error;
    if (isPostgresAway(error) || (error instanceof Error && error.name === "ClickHouseUnavailable")) {
      return new Failure("UNAVAILABLE", "A database is away.", { retryAfter: 5 });
    }
    log.error({ err: error, request_id: exchange.requestId }, "a request failed");
    return new Failure("INTERNAL", "Something went wrong here; it was logged under this request id.");
  };
}

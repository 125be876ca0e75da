import { sql } from "drizzle-orm";
import { readDuePosts, recordPost, type DuePost, type PostResult } from "../../domain/subscribers/posts.ts";
import { signatureHeaders } from "../../domain/webhooks/sign.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { Repeating } from "../../platform/repeat.ts";
import { runDue } from "../../platform/run-due.ts";
import { subscriberPosts } from "../../schemas/tables/all.ts";

interface PostNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: Pick<Config, "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS" | "WEBHOOK_TIMEOUT_MS" | "WEBHOOK_ALLOW_HTTP">;
  log: Log;
  looks?: DueLooks | undefined;
}

const AT_ONCE = 50;
const LEASE_MARGIN_MS = 15_000;
const UNWANTED: PostResult = { kind: "failed", error: "The subscriber left before it was sent.", permanent: true };

/** Makes the requests that are due to webhooks that subscribed to pages. Any number of these may run beside each other. */
export function makePosting({ database, outbound, clock, config, log, looks }: PostNeeds): Repeating {
  const giveUp = new AbortController();

  async function post({ url, signingSecret, body, id, eventId }: DuePost): Promise<PostResult | null> {
    const judgement = outbound.judgeUrl(url, { allowHttp: config.WEBHOOK_ALLOW_HTTP });
    if (!judgement.ok) return { kind: "failed", error: `${judgement.sentence} ${judgement.fix}`, permanent: false };
    const text = JSON.stringify(body);
    const headers = {
      "user-agent": "Pharos-Webhooks/1.0",
      accept: "*/*",
      "content-type": "application/json; charset=utf-8",
      ...signatureHeaders({ secret: signingSecret, id: eventId ?? id, at: new Date(clock.now()), body: text }),
    };
    const result = await outbound.send({ method: "POST", url, headers, body: text, timeoutMs: config.WEBHOOK_TIMEOUT_MS, signal: giveUp.signal });
    if (result.kind === "failed") return giveUp.signal.aborted ? null : { kind: "failed", error: result.error, permanent: false };
    if (result.status >= 200 && result.status < 300) return { kind: "sent" };
    return result.status === 410 ? { kind: "gone" } : { kind: "failed", error: `The receiver answered ${result.status}.`, permanent: false };
  }

  const due = runDue<DuePost>({
    database,
    clock,
    log,
    pauseMs: config.SCHEDULER_TICK_MS,
    looks,
    what: "posts to subscribers",
    table: subscriberPosts,
    condition: sql`status = 'pending'`,
    leaseMs: config.WEBHOOK_TIMEOUT_MS + LEASE_MARGIN_MS,
    atOnce: AT_ONCE,
    read: (ids) => readDuePosts(database, ids),
    async work(row, token) {
      const result = row.unwanted ? UNWANTED : await post(row);
      // Cut short by us: it is due again when its lease ends.
      if (result) await recordPost(database, row, { token, result, at: new Date(clock.now()) });
    },
    stopMs: config.SHUTDOWN_LIMIT_MS / 4,
  });
  return {
    start: () => due.start(),
    async stop() {
      await due.stop();
      giveUp.abort();
    },
  };
}

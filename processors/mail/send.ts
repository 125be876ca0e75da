import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { failUnconfigured } from "../../domain/mail/fail-unconfigured.ts";
import { forgetFinished } from "../../domain/mail/forget-finished.ts";
import { readDueMails, type DueMail } from "../../domain/mail/read-due.ts";
import { recordSend } from "../../domain/mail/record-send.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import { makeDueLooks, type DueLooks } from "../../platform/due-looks.ts";
import type { Log } from "../../platform/log.ts";
import { makeMailer, SEND_LIMIT_MS, type Mailer, type SendResult } from "../../platform/mail/smtp.ts";
import { isPostgresAway, type Database } from "../../platform/postgres/database.ts";
import { repeat, type Repeating } from "../../platform/repeat.ts";
import { runDue } from "../../platform/run-due.ts";
import { mails } from "../../schemas/tables/all.ts";

interface MailNeeds {
  database: Database;
  clock: Clock;
  config: Pick<Config, "SMTP_URL" | "MAIL_FROM" | "SMTP_CONNECTIONS" | "OUTBOUND_CA_FILE" | "SCHEDULER_TICK_MS" | "SHUTDOWN_LIMIT_MS">;
  log: Log;
  looks?: DueLooks | undefined;
}

/** A lease outlives the longest sending by this, for recording it. */
const LEASE_MARGIN_MS = 15_000;

const FORGET_MS = 3_600_000;

const PENDING = sql`status = 'pending'`;

const UNWANTED: SendResult = { kind: "failed", error: "The subscriber left before it was sent.", permanent: true, bounced: false };

/** Sends the mails that are due, some at a time; any number of these may run beside each other. Without SMTP_URL all are recorded as failed. */
export function makeMailSender(needs: MailNeeds): Repeating {
  const { database, clock, config, log } = needs;
  const sender = config.SMTP_URL !== null && config.MAIL_FROM !== null ? sending(needs, config.SMTP_URL, config.MAIL_FROM) : refusing(needs);
  const forgetting = repeat({
    pauseMs: FORGET_MS,
    work: () => forgetFinished(database, new Date(clock.now())),
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not forget old mails; trying again"),
  });
  return {
    start() {
      sender.start();
      forgetting.start();
    },
    stop: async () => void (await Promise.all([sender.stop(), forgetting.stop()])),
  };
}

function sending({ database, clock, config, log, looks }: MailNeeds, url: string, from: string): Repeating {
  const mailer = makeMailer({ url, from, caFile: config.OUTBOUND_CA_FILE, connections: config.SMTP_CONNECTIONS });
  const note = makeNotes(log);

  async function send(mail: DueMail, token: string): Promise<void> {
    const result = mail.unwanted ? UNWANTED : await mailer.send(mail);
    if (result !== UNWANTED) note(mail, result);
    await recorded(mail, token, result);
  }

  /** Until it is recorded: that it was sent must not be lost because Postgres is away for a while. */
  async function recorded(mail: DueMail, token: string, result: SendResult): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        await recordSend(database, mail, { token, result, at: new Date(clock.now()) });
        return;
      } catch (error) {
        if (!isPostgresAway(error) || failures > 20) throw error;
        await sleep(250 * failures);
      }
    }
  }

  const due = runDue({
    database,
    clock,
    log,
    pauseMs: config.SCHEDULER_TICK_MS,
    looks,
    what: "mails",
    table: mails,
    condition: PENDING,
    leaseMs: SEND_LIMIT_MS + LEASE_MARGIN_MS,
    atOnce: config.SMTP_CONNECTIONS,
    read: (ids) => readDueMails(database, ids),
    work: send,
    stopMs: config.SHUTDOWN_LIMIT_MS / 2,
  });
  return { start: () => due.start(), stop: () => due.stop().finally(() => mailer.close()) };
}

/** One line when the server begins to fail and one when it works again, not one for each mail. */
function makeNotes(log: Log): (mail: DueMail, result: Awaited<ReturnType<Mailer["send"]>>) => void {
  let away = false;
  return ({ id, organizationId }, result) => {
    if (result.kind === "sent" || result.bounced) {
      if (away) log.info("mail is sent again");
      away = false;
    } else if (!away && !result.permanent) {
      away = true;
      log.warn({ error: result.error }, "mail cannot be sent; it is tried again for some hours");
    }
    log.debug({ mail_id: id, organization_id: organizationId, result: result.kind, ...(result.kind === "failed" && { error: result.error }) }, "tried to send a mail");
  };
}

function refusing({ database, clock, config, log, looks = makeDueLooks({ database, clock, log, everyMs: config.SCHEDULER_TICK_MS }) }: MailNeeds): Repeating {
  let told = false;
  return repeat({
    pauseMs: config.SCHEDULER_TICK_MS,
    untilDue: looks.add((now) => sql`exists (select from ${mails} where ${mails.dueAt} <= ${now} and ${PENDING})`),
    async work() {
      const failed = await failUnconfigured(database, new Date(clock.now()));
      if (failed > 0 && !told) log.warn("SMTP_URL is not set: mails are recorded as failed and nobody gets them");
      told ||= failed > 0;
      return failed > 0;
    },
    onError: (error) => log[isPostgresAway(error) ? "debug" : "error"]({ err: error }, "could not look for mails; trying again"),
  });
}

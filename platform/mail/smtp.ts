import { createTransport } from "nodemailer";
import { judgeRefusal, type Judgement, type Refusal } from "./judge-refusal.ts";
import { smtpOptions } from "./smtp-options.ts";

interface OutgoingMail {
  /** Names it: the Message-ID is made from it, so that a second sending can be recognised. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string | null;
  headers: Record<string, string>;
}

export type SendResult = { kind: "sent" } | ({ kind: "failed"; error: string } & Judgement);

export interface Mailer {
  /** Sends a mail once. Never rejects. */
  send(mail: OutgoingMail): Promise<SendResult>;
  close(): void;
}

interface MailerNeeds {
  url: string;
  /** `Name <address>` or an address. */
  from: string;
  caFile: string | null;
  connections: number;
}

/** For one mail in all; a server that answers each command just in time could take for ever. */
export const SEND_LIMIT_MS = 240_000;

/** As much of an answer as is kept. */
const ERROR_LENGTH = 500;

/**
 * The way of mail to its server, over some connections that stay open while there is more. Beside the outbound module, and the only
 * thing that is: its one destination is the operator's own. Throws StartFailure when `caFile` cannot be read.
 */
export function makeMailer({ url, from, caFile, connections }: MailerNeeds): Mailer {
  const options = smtpOptions({ url, caFile, connections });
  const transport = createTransport(options);
  const domain = /@([^@>]+)>?$/.exec(from)![1]!;

  function describe(error: unknown): string {
    const { message, response } = error as Error & { response?: string };
    const text = typeof response === "string" ? `The mail server answered: ${response}` : message;
    const told = text.replaceAll(/[\0\r\n]+/g, " ").slice(0, ERROR_LENGTH);
    // No server should repeat it; this text is kept and logged.
    return "auth" in options && options.auth ? told.replaceAll(options.auth.pass, "…") : told;
  }

  return {
    async send({ id, to, subject, text, html, headers }) {
      const limit = new AbortController();
      try {
        const sent = transport.sendMail({ from, to: { name: "", address: to }, subject, text, ...(html !== null && { html }), headers, messageId: `<${id}@${domain}>` });
        await Promise.race([sent, expired(limit.signal)]);
        return { kind: "sent" };
      } catch (error) {
        return { kind: "failed", error: describe(error), ...judgeRefusal(error as Refusal) };
      } finally {
        limit.abort();
      }
    },
    close: () => transport.close(),
  };
}

/** Rejects when a mail has taken too long, unless it is called off. */
function expired(calledOff: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The mail server did not take the mail within ${SEND_LIMIT_MS / 1000} s.`)), SEND_LIMIT_MS);
    calledOff.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}

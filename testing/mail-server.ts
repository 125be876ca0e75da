import type { AddressInfo } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import type { Certificate } from "./certificate.ts";

export interface ReceivedMail {
  to: string;
  secure: boolean;
  user: string | undefined;
  /** As it came. */
  raw: string;
  parsed: Email;
}

export interface MailServer {
  port: number;
  /** Those it took, in their order. */
  mails: ReceivedMail[];
  /** Those it took for one address. */
  mailsTo(address: string): ReceivedMail[];
  stop(): Promise<void>;
}

interface MailServerOptions {
  /** Offers STARTTLS with it and takes no mail without a login. */
  login?: { certificate: Certificate; user: string; password: string };
  port?: number;
  /** Answers to a recipient and to a whole mail: null takes it. */
  judgeRecipient?(address: string): { code: number; text: string } | null;
  /** Awaited before the mail is answered as taken. */
  beforeTaken?(mail: ReceivedMail): Promise<void>;
}

/** A real SMTP server on loopback. */
export async function startMailServer({ login, port = 0, judgeRecipient, beforeTaken }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...(login ? { key: login.certificate.key, cert: login.certificate.cert } : { disabledCommands: ["STARTTLS"] }),
    authOptional: !login,
    // Senders keep idle connections.
    closeTimeout: 50,
    onAuth({ username, password }, session, callback) {
      const right = login && session.secure && username === login.user && password === login.password;
      callback(right ? null : new Error("Invalid login"), right ? { user: username } : undefined);
    },
    onRcptTo({ address }, _session, callback) {
      const refusal = judgeRecipient?.(address) ?? null;
      callback(refusal && Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => void take(Buffer.concat(chunks)));
      async function take(raw: Buffer): Promise<void> {
        const mail = { to: session.envelope.rcptTo[0]!.address, secure: session.secure, user: session.user as string | undefined, raw: raw.toString("latin1"), parsed: await PostalMime.parse(raw) };
        mails.push(mail);
        await beforeTaken?.(mail);
        callback(null);
      }
    },
  });
  // Clients that are cut off are part of the tests.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    mailsTo: (address) => mails.filter(({ to }) => to === address),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

import { trust } from "../outbound/trust.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** How long a server may take to be connected to, to greet, and between two of its answers. */
const CONNECT_MS = 15_000;
const SILENCE_MS = 60_000;

interface SmtpSettings {
  /** smtp: or smtps:, as the configuration has judged it. */
  url: string;
  /** PEM file of authorities to trust beside the public ones. */
  caFile: string | null;
  connections: number;
}

/**
 * How a server is spoken to. smtps is TLS from the first byte; smtp turns to TLS when the server offers it (RFC 3207), and must when a
 * password goes to another machine: whoever stands in between could take the offer away. On this machine no certificate is asked for.
 * Throws StartFailure when `caFile` cannot be read.
 */
export function smtpOptions({ url, caFile, connections }: SmtpSettings) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const local = LOOPBACK.test(hostname);
  return {
    pool: true,
    maxConnections: connections,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && username !== "" && !local,
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    tls: { secureContext: trust(caFile), rejectUnauthorized: !local },
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
}

import { Resolver } from "node:dns";
import { resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { PLANS, ROLES, type Plan, type Role } from "../schemas/vocabulary.ts";

/**
 * Every setting of Pharos: its name in the environment, its unit, its default and a line of
 * documentation. `docs/configuration.md` is generated from this table (`npm run docs`).
 */
interface Setting<T> {
  unit: string;
  default: string;
  doc: string;
  /** Its value is never printed. */
  secret?: true;
  read: z.ZodType<T, string>;
}

const integer = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`);

const flag = z.enum(["true", "false"], "must be true or false").transform((text) => text === "true");

const optional = z.string().transform((text) => text || null);

const url = (protocols: string[]) =>
  z
    .string()
    .refine((text) => text === "" || (URL.canParse(text) && protocols.includes(new URL(text).protocol)), `must be a URL that begins with ${protocols.map((each) => `${each}//`).join(" or ")}`)
    .transform((text) => text || null);

/** `smtp://user:password@host:port`, the port and the credentials optional; a password with other than letters and digits is percent-encoded. */
const smtpUrl = z
  .string()
  .refine((text) => text === "" || isSmtpUrl(text), "must be a URL such as smtp://user:password@mail.example.com:587 or smtps://…, special characters of user and password percent-encoded")
  .transform((text) => text || null);

function isSmtpUrl(text: string): boolean {
  try {
    const { protocol, hostname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return (protocol === "smtp:" || protocol === "smtps:") && hostname !== "";
  } catch {
    return false;
  }
}

/** `Name <address>` or an address alone. */
const sender = z
  .string()
  .regex(/^(?:[^<>@\r\n"]{0,200}<[^\s<>@"]{1,64}@[a-zA-Z0-9.-]{1,253}>|[^\s<>@"]{1,64}@[a-zA-Z0-9.-]{1,253})?$/, "must be an address such as status@example.com or Acme Status <status@example.com>")
  .transform((text) => text || null);

/** Not judged as a URL: one that names a Unix socket has no host, which libpq allows and `URL` does not. */
const postgresUrl = z
  .string()
  .regex(/^(postgres(ql)?:\/\/.+)?$/, "must begin with postgres:// or postgresql://")
  .transform((text) => text || null);

/** `CIDR,CIDR` → normalised texts; a bare address stands for itself. */
const cidrs = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()).filter(Boolean))
  .superRefine((parts, context) => {
    for (const part of parts) if (!ipaddr.isValid(part) && !ipaddr.isValidCIDR(part)) context.addIssue(`"${part}" is no address or CIDR range such as 10.0.0.0/8`);
  });

const secretsKey = z
  .string()
  .refine((text) => text === "" || Buffer.from(text, "base64").length === 32, "must be 32 bytes in base64, as `openssl rand -base64 32` makes them")
  .transform((text) => (text === "" ? null : Buffer.from(text, "base64")));

/** `9.9.9.9,[2620:fe::fe]:53` → as Node's resolver takes them. */
const dnsServers = z.string().transform((text, context) => {
  const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
  try {
    new Resolver().setServers(parts);
  } catch {
    context.addIssue("must be IP addresses, with or without a port, such as 9.9.9.9 or [2620:fe::fe]:53");
  }
  return parts;
});

/** `443,8000-8999` → from and to of each. */
const portRanges = z.string().transform((text, context): (readonly [number, number])[] => {
  const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
  const found = parts.map((part) => {
    const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    return [Number(from), Number(to)] as const;
  });
  for (const [n, [from, to]] of found.entries()) if (!(from >= 1 && from <= to && to <= 65_535)) context.addIssue(`"${parts[n]}" is no port or range such as 443 or 8000-8999`);
  return found;
});

/** `free:100,pro:1000,team:1000` → a figure for each plan. */
const perPlan = z.string().transform((text, context): Record<Plan, number> => {
  const figures = new Map(text.split(",").map((part): [string, string] => {
    const [name = "", figure = ""] = part.trim().split(":");
    return [name, figure];
  }));
  const valid = figures.size === PLANS.length && PLANS.every((plan) => /^\d+$/.test(figures.get(plan) ?? ""));
  if (!valid) {
    context.addIssue(`must name every plan once, like ${PLANS.map((plan) => `${plan}:100`).join(",")}`);
    return z.NEVER;
  }
  return Object.fromEntries(PLANS.map((plan) => [plan, Number(figures.get(plan))])) as Record<Plan, number>;
});

/** `auto`, which is null, or what else is read. */
const autoOr = <T>(read: z.ZodType<T, string>) => z.union([z.literal("auto").transform(() => null), read], "must be auto or a number");

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `1m,5m,30m` → milliseconds. */
const durations = z.string().transform((text, context): number[] => {
  const found = text.split(",").map((part) => /^(\d+)(ms|s|m|h|d)$/.exec(part.trim()));
  if (found.some((match) => match === null)) {
    context.addIssue("must be durations with a unit (ms, s, m, h, d), separated by commas, like 1m,5m,2h");
    return z.NEVER;
  }
  return found.map((match) => Number(match![1]) * UNIT_MS[match![2] as keyof typeof UNIT_MS]);
});

const roles = z.string().transform((text, context): Role[] => {
  const names = text === "all" ? [...ROLES] : text.split(",").map((part) => part.trim());
  for (const name of names) if (!ROLES.includes(name as Role)) context.addIssue(`"${name}" is no role; choose from all, ${ROLES.join(", ")}`);
  return names as Role[];
});

const setting = <T>(value: Setting<T>): Setting<T> => value;

export const SETTINGS = {
  PHAROS_ROLES: setting({ unit: "list", default: "all", doc: "Which roles this process plays: `all`, or some of edge, processor, scheduler, control-plane, separated by commas.", read: roles }),
  PHAROS_DATA_DIR: setting({ unit: "path", default: "./data", doc: "Where the embedded stores live, and the spools of edges that use Kafka. One process holds the embedded stores at a time.", read: z.string().min(1, "must not be empty").transform((path) => resolve(path)) }),
  PORT: setting({ unit: "port", default: "8080", doc: "Serves the whole specification under one address. 0 picks a free port.", read: integer(0, 65_535) }),
  EDGE_PORT: setting({ unit: "port", default: "8081", doc: "Serves the three ingest endpoints at full speed. 0 picks a free port.", read: integer(0, 65_535) }),
  HOST: setting({ unit: "address", default: "127.0.0.1", doc: "The address to listen on; 0.0.0.0 or :: opens Pharos to the network.", read: z.string().refine((text) => ipaddr.isValid(text), "must be an IP address, like 127.0.0.1 or 0.0.0.0") }),
  SECRETS_KEY: setting({ unit: "base64", default: "", secret: true, doc: "The key that seals secrets in PostgreSQL: 32 bytes in base64 (`openssl rand -base64 32`), the same for all processes on a database. Empty: `secrets.key` in the data folder, made by the first start. Keep a copy beside the backups: without it these secrets are lost.", read: secretsKey }),
  SECRETS_KEY_FALLBACK: setting({ unit: "base64", default: "", secret: true, doc: "A second key, which opens what `SECRETS_KEY` does not. What is sealed with it is sealed with `SECRETS_KEY` by the next start: see [changing the key](security.md#changing-secrets_key).", read: secretsKey }),
  CUSTOM_DOMAIN_PROOF: setting({ unit: "name", default: "dns", doc: "How an organization proves that a status page's domain is its own: `dns`, by a TXT record, or `none`, which gives a domain to whoever names it first: for an installation of one's own.", read: z.enum(["dns", "none"], "must be dns or none") }),
  DNS_SERVERS: setting({ unit: "list", default: "", doc: "Name servers, IP addresses with or without a port, separated by commas, that are asked for proofs of domains; empty: the system's.", read: dnsServers }),
  PUBLIC_URL: setting({ unit: "URL", default: "", doc: "The address people use, for links in pages and messages; empty: http://localhost:PORT.", read: url(["http:", "https:"]) }),
  DATABASE_URL: setting({ unit: "URL", default: "", secret: true, doc: "A PostgreSQL (15 or later) to use in place of the embedded one: the address of the tables' owner, who migrates at the start and makes the service's two logins.", read: postgresUrl }),
  DATABASE_APPLICATION_URL: setting({ unit: "URL", default: "", secret: true, doc: "The address of the application's login, where DATABASE_URL's user may not create roles; a member of pharos_application alone (deploy/production.md). Empty: Pharos makes one.", read: postgresUrl }),
  DATABASE_TENANT_URL: setting({ unit: "URL", default: "", secret: true, doc: "The address of the login that the REST API works with behind row-level security; a member of pharos_tenant alone. Set with DATABASE_APPLICATION_URL.", read: postgresUrl }),
  CLICKHOUSE_URL: setting({ unit: "URL", default: "", secret: true, doc: "A ClickHouse to use in place of the embedded one, with user, password and database in the URL.", read: url(["http:", "https:"]) }),
  CLICKHOUSE_CLUSTER: setting({ unit: "name", default: "", doc: "The cluster (in CLICKHOUSE_URL's own configuration) on whose replicas the tables are made, replicated; empty: on that server alone. Fixed once the tables are made.", read: optional }),
  KAFKA_BROKERS: setting({ unit: "list", default: "", doc: "host:port of Kafka brokers, separated by commas, to use in place of the embedded log.", read: z.string().refine((text) => text === "" || text.split(",").every((part) => /^[^\s:,]+:\d+$/.test(part.trim())), "must be host:port, separated by commas").transform((text) => text.split(",").map((part) => part.trim()).filter(Boolean)) }),
  KAFKA_PRODUCER: setting({ unit: "name", default: "direct", doc: "Who writes to Kafka: `direct`, requests of our own that copy nothing, or `kafkajs`, its producer. What is written is the same.", read: z.enum(["direct", "kafkajs"], "must be direct or kafkajs") }),
  KAFKA_COMPRESSION: setting({ unit: "name", default: "none", doc: "How records are packed on their way to Kafka where that makes them smaller: `none`, `lz4` or `zstd`. All of them are read whatever is set, so it may be changed at any time. Set it alike for all processes: with compression a consumer fetches 32 times less at a time, as records grow that much at most when they are unpacked.", read: z.enum(["none", "lz4", "zstd"], "must be none, lz4 or zstd") }),
  KAFKA_FETCH_BYTES: setting({ unit: "bytes", default: "33554432", doc: "At most so much a consumer fetches from Kafka at a time, unpacked, over all its partitions. Of each partition it holds at most 12 MiB, or one and a half times this where that is less: with many partitions a smaller one needs less memory.", read: integer(65_536, 1_073_741_824) }),
  KAFKA_TOPIC_PREFIX: setting({ unit: "text", default: "pharos", doc: "Stands before the name of each Kafka topic and group, so that several installations can share a cluster.", read: z.string().regex(/^[a-zA-Z0-9._-]{1,100}$/, "may hold letters, digits, dot, dash and underscore") }),
  KAFKA_SSL: setting({ unit: "true/false", default: "false", doc: "Whether connections to Kafka are encrypted (TLS), and its certificate is checked.", read: flag }),
  KAFKA_SSL_CA_FILE: setting({ unit: "path", default: "", doc: "A PEM file of the authorities that Kafka's certificate comes from; empty: the public ones.", read: optional }),
  KAFKA_SSL_CERT_FILE: setting({ unit: "path", default: "", doc: "A PEM file of our own certificate, for brokers that ask for one.", read: optional }),
  KAFKA_SSL_KEY_FILE: setting({ unit: "path", default: "", doc: "A PEM file of its key.", read: optional }),
  KAFKA_SASL_MECHANISM: setting({ unit: "name", default: "none", doc: "How we log in to Kafka: none, plain, scram-sha-256, scram-sha-512 or oauthbearer. With plain and without KAFKA_SSL the password can be read on its way.", read: z.enum(["none", "plain", "scram-sha-256", "scram-sha-512", "oauthbearer"], "must be none, plain, scram-sha-256, scram-sha-512 or oauthbearer") }),
  KAFKA_SASL_USERNAME: setting({ unit: "text", default: "", doc: "Who logs in; with oauthbearer the client's id.", read: optional }),
  KAFKA_SASL_PASSWORD: setting({ unit: "text", default: "", secret: true, doc: "The password; with oauthbearer the client's secret.", read: optional }),
  KAFKA_SASL_TOKEN_URL: setting({ unit: "URL", default: "", doc: "With oauthbearer, where tokens are asked for by client credentials.", read: url(["http:", "https:"]) }),
  KAFKA_SASL_SCOPE: setting({ unit: "text", default: "", doc: "The scope that is asked for with a token, where one is needed.", read: optional }),
  STORES_MAY_LOSE: setting({ unit: "true/false", default: "false", doc: "Start although a store may lose what it confirmed when the power fails, and only warn of it: for tests and trials.", read: flag }),
  LOG_PARTITIONS: setting({ unit: "partitions", default: "4", doc: "Partitions of each topic when it is first made; fixed afterwards.", read: integer(1, 64) }),
  LOG_RETENTION_BYTES: setting({ unit: "bytes", default: "268435456", doc: "The embedded log keeps at most this much of what has been consumed; what has not been is always kept.", read: integer(1_048_576, Number.MAX_SAFE_INTEGER) }),
  LOG_RETENTION_MS: setting({ unit: "ms", default: "86400000", doc: "The embedded log keeps consumed records at most this long.", read: integer(1_000, Number.MAX_SAFE_INTEGER) }),
  EDGE_PENDING_BYTES: setting({ unit: "bytes", default: "67108864", doc: "How much an edge holds in memory of what waits to be stored; beyond it requests get 503.", read: integer(1_048_576, 4_294_967_296) }),
  EDGE_THREADS: setting({ unit: "threads", default: "auto", doc: "Threads of this process that take events in, on one port. 0: the thread of the other roles does it, which needs about 50 MB less. `auto`: 1 from four cores and 4 GiB on, else 0. Rate limits count for each thread.", read: autoOr(integer(0, 64)) }),
  OVERFLOW_SHARE_PERCENT: setting({ unit: "percent", default: "50", doc: "An organization that is more than this part of all beacons' bytes at an edge has its beacons processed apart, by consumers of their own; 100 never.", read: integer(1, 100) }),
  OVERFLOW_FROM_BYTES: setting({ unit: "bytes/s", default: "1048576", doc: "Below this many bytes of beacons a second at an edge no organization is set apart.", read: integer(1, Number.MAX_SAFE_INTEGER) }),
  SPOOL_BYTES: setting({ unit: "bytes", default: "4294967296", doc: "How much each edge keeps below PHAROS_DATA_DIR/spool while Kafka is away (4 GiB are 15 minutes of 5,000 errors a second); beyond it requests get 503.", read: integer(1_048_576, Number.MAX_SAFE_INTEGER) }),
  SPOOL_AFTER_MS: setting({ unit: "ms", default: "2000", doc: "How long Kafka may take to confirm before an edge spools instead.", read: integer(10, 60_000) }),
  LOG_LEVEL: setting({ unit: "level", default: "info", doc: "fatal, error, warn, info, debug, trace or silent.", read: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"], "must be fatal, error, warn, info, debug, trace or silent") }),
  QUIET_BATCH_MS: setting({ unit: "ms", default: "1300", doc: "How far apart a processor writes batches of events while few come (under 100 a second): an event is visible so much later at most, what charts are made of five times as much. Each batch costs ClickHouse 30 ms of CPU, whatever is in it. With many events, and with 0 always, batches are 200 ms apart.", read: integer(0, 10_000) }),
  WORKER_THREADS: setting({ unit: "threads", default: "2", doc: "Worker threads of a processor for parsing, grouping and evaluating.", read: integer(1, 256) }),
  WORKER_DEADLINE_MS: setting({ unit: "ms", default: "30000", doc: "A worker thread that is busy with one batch for longer is ended; the entry that it was at, when it does so alone again, becomes a dead letter.", read: integer(1_000, 600_000) }),
  ERROR_DETAILS_PER_MINUTE: setting({ unit: "events/min", default: "300", doc: "Of the events of one error that a worker thread reads in a minute so many keep stack, causes, breadcrumbs, tags and url, and one in 100 of the rest. All are counted.", read: integer(0, 1_000_000_000) }),
  ERROR_SIGNATURES_PER_DAY: setting({ unit: "errors/day", default: "10000", doc: "How many different errors events can make for one service in a day (UTC); the others count as one, \"Too many different errors\". Several processors may exceed it by what they have in flight. 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  RELEASES_PER_DAY: setting({ unit: "releases/day", default: "500", doc: "How many releases events can make for one service in a day (UTC) by naming them; past it events keep their release's name, and no release is made. 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  ENVIRONMENTS_PER_DAY: setting({ unit: "environments/day", default: "50", doc: "How many environments events of one service can add to its organization's in a day (UTC); errors of further ones are in the environment `other`. 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  SOURCE_MAP_CACHE_MB: setting({ unit: "MiB", default: "128", doc: "How much of the source maps that errors are read with a processor keeps in memory.", read: integer(1, 65_536) }),
  POSTGRES_CONNECTIONS: setting({ unit: "connections", default: "20", doc: "The largest number of PostgreSQL connections of this process; one that serves the REST API opens up to as many again for it.", read: integer(4, 1_000) }),
  METRICS_WAIT_MS: setting({ unit: "ms", default: "2000", doc: "How long a metrics push waits for its evaluation before it is answered 202.", read: integer(0, 60_000) }),
  RATE_LIMIT_STANDARD: setting({ unit: "requests/min by plan", default: "free:100,pro:1000,team:1000", doc: "Requests of one API key to the REST API; all keys of an organization together have five times as many. 0 is unlimited.", read: perPlan }),
  RATE_LIMIT_METRICS: setting({ unit: "requests/min by plan", default: "free:100,pro:10000,team:10000", doc: "Metrics pushes of one API key; all keys of an organization together have five times as many. 0 is unlimited.", read: perPlan }),
  RATE_LIMIT_HEARTBEAT_MONITOR: setting({ unit: "requests/min", default: "120", doc: "Pings of one heartbeat monitor; 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  RATE_LIMIT_HEARTBEAT_KEY: setting({ unit: "requests/min", default: "10000", doc: "Pings with one API key; all keys of an organization together have five times as many. 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  RATE_LIMIT_ANONYMOUS: setting({ unit: "requests/min", default: "300", doc: "Requests without a valid key from one client address, of IPv6 from one /64 network; 0 is unlimited. A key that is not known yet counts before it is looked up, and takes that back when it is valid.", read: integer(0, 1_000_000_000) }),
  TRUSTED_PROXIES: setting({ unit: "CIDRs", default: "", doc: "Whose `X-Forwarded-For` counts as the client's address: the proxies in front. Empty: nobody's. When it is not set and PUBLIC_URL is, a proxy on this machine (127.0.0.0/8,::1/128) is believed; every process on it could then claim any address.", read: cidrs }),
  METRICS_ALLOW: setting({ unit: "CIDRs", default: "127.0.0.0/8,::1/128", doc: "Who may read `/metrics`, such as the address of your Prometheus. A request that a proxy forwarded counts only where TRUSTED_PROXIES names the proxy.", read: cidrs }),
  DEMO: setting({ unit: "true/false", default: "true", doc: "Whether the first start makes a demo organization with a page and prints its keys; without it `npm run pharos -- organization create` makes the first one.", read: flag }),
  WEBHOOK_RETRY_DELAYS: setting({ unit: "durations", default: "1m,5m,30m,2h,24h", doc: "When a failed webhook delivery is tried again, each after the failure before; after the last the webhook is disabled.", read: durations }),
  WEBHOOK_TIMEOUT_MS: setting({ unit: "ms", default: "30000", doc: "How long a receiver may take for connection and answer together.", read: integer(10, 120_000) }),
  WEBHOOK_ALLOW_HTTP: setting({ unit: "true/false", default: "false", doc: "Accept webhook URLs with plain http.", read: flag }),
  OUTBOUND_ALLOW: setting({ unit: "CIDRs", default: "", doc: "Addresses that outgoing requests may reach although they are not public.", read: cidrs }),
  OUTBOUND_PORTS: setting({ unit: "ports", default: "", doc: "Ports and ranges, such as `443,8000-8999`, that outgoing requests may go to; empty: all. WHOIS needs 43.", read: portRanges }),
  OUTBOUND_CA_FILE: setting({ unit: "path", default: "", doc: "A PEM file of certificate authorities to trust for outgoing requests, beside the public ones.", read: optional }),
  SMS_GATEWAY_URL: setting({ unit: "URL", default: "", secret: true, doc: "Where text messages are POSTed in Twilio's form (To, From, Body), with user and password in the URL, such as https://SID:TOKEN@api.twilio.com/2010-04-01/Accounts/SID/Messages.json; empty: channels of type sms say that it is missing. Addresses that are not public need OUTBOUND_ALLOW.", read: url(["http:", "https:"]) }),
  SMS_PER_DAY: setting({ unit: "messages/day by plan", default: "free:0,pro:100,team:1000", doc: "Text messages that an organization may have sent in a day (UTC), codes that confirm numbers counted; 0 is none.", read: perPlan }),
  SMS_FROM: setting({ unit: "text", default: "", doc: "Who text messages come from: a number or name that the gateway lets you use.", read: optional }),
  PAGERDUTY_EVENTS_URL: setting({ unit: "URL", default: "https://events.pagerduty.com/v2/enqueue", doc: "Where channels of type pagerduty send their events (Events API v2); for accounts in Europe https://events.eu.pagerduty.com/v2/enqueue.", read: url(["http:", "https:"]).transform((text) => text ?? "https://events.pagerduty.com/v2/enqueue") }),
  SMTP_URL: setting({ unit: "URL", default: "", secret: true, doc: "The server that takes mail: smtp://user:password@host:587 (with STARTTLS, required when a password is sent to another machine) or smtps://user:password@host:465. Without it no mail is sent and nobody can subscribe by mail. OUTBOUND_CA_FILE adds its authority.", read: smtpUrl }),
  MAIL_FROM: setting({ unit: "address", default: "", doc: "Whom mail comes from, such as Acme Status <status@example.com>; needed with SMTP_URL.", read: sender }),
  SMTP_CONNECTIONS: setting({ unit: "connections", default: "10", doc: "Mails that one scheduler sends at a time.", read: integer(1, 100) }),
  PAGE_CACHE_MB: setting({ unit: "MiB", default: "64", doc: "How much of drawn status pages a control plane keeps in memory; as much again and a quarter of what they are drawn from.", read: integer(1, 65_536) }),
  RATE_LIMIT_SUBSCRIBE: setting({ unit: "requests/min", default: "10", doc: "Subscriptions asked for from one client address; 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  RATE_LIMIT_PAGE_VIEWS: setting({ unit: "requests/min", default: "12000", doc: "Requests for status pages from one client address (of IPv6: its /64) to one process; 0 is unlimited. Many people may stand behind one address, and a page that is open asks once a minute.", read: integer(0, 1_000_000_000) }),
  RATE_LIMIT_PAGE_PASSWORD: setting({ unit: "wrong tries", default: "10", doc: "Wrong passwords that one client address (of IPv6: its /64) may give for one status page, over all processes, before it has to wait: a minute, after each further one twice as long, 15 minutes at most; an hour without one forgets them. 0 is unlimited.", read: integer(0, 1_000_000_000) }),
  RDAP_BOOTSTRAP_URL: setting({ unit: "URL", default: "", doc: "Where RDAP's bootstrap file is fetched once a day, such as https://data.iana.org/rdap/dns.json; empty: the servers of the most used top-level domains that Pharos ships with.", read: url(["http:", "https:"]) }),
  WHOIS_ROOT: setting({ unit: "host:port", default: "whois.iana.org:43", doc: "The WHOIS server that names the registries' servers.", read: z.string().regex(/^[a-zA-Z0-9.-]+:\d{1,5}$/, "must be host:port, like whois.iana.org:43") }),
  REGISTRY_PAUSE_MS: setting({ unit: "ms", default: "1000", doc: "How long this process waits after an RDAP or WHOIS server has answered before it asks that server again.", read: integer(0, 600_000) }),
  SCHEDULER_TICK_MS: setting({ unit: "ms", default: "1000", doc: "How often the scheduler looks for what is due when nothing wakes it earlier.", read: integer(20, 60_000) }),
  SHUTDOWN_LIMIT_MS: setting({ unit: "ms", default: "9000", doc: "How long a stop may take to answer and drain before it is forced.", read: integer(100, 600_000) }),
} satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof SETTINGS;
export type Config = { readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never };

/**
 * Reads the environment. Either the configuration, or one sentence for each fault, all of them at once.
 * Unknown variables are left alone: the environment is not ours alone.
 */
export function readConfig(environment: Record<string, string | undefined>): { config: Config } | { faults: string[] } {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { read, default: fallback, secret }] of Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]) {
    const text = environment[name] ?? fallback;
    const result = read.safeParse(text);
    if (result.success) values[name] = result.data;
    else for (const issue of result.error.issues) faults.push(`${name}${secret ? "" : `="${text}"`}: ${issue.message}.`);
  }
  if (faults.length > 0) return { faults };
  // PUBLIC_URL says that something stands in front, mostly on the same machine.
  if (environment.TRUSTED_PROXIES === undefined && values.PUBLIC_URL !== null) values.TRUSTED_PROXIES = LOOPBACK;
  const config = values as unknown as Config;
  return checkTogether(config, faults).length > 0 ? { faults } : { config };
}

/** Rules over more than one setting. */
function checkTogether(config: Config, faults: string[]): string[] {
  if (config.PORT !== 0 && config.PORT === config.EDGE_PORT) faults.push(`PORT and EDGE_PORT are both ${config.PORT}; they need to differ.`);
  const logins = [config.DATABASE_APPLICATION_URL, config.DATABASE_TENANT_URL].filter((url) => url !== null);
  if (logins.length === 1 || (logins.length === 2 && !config.DATABASE_URL)) faults.push("DATABASE_APPLICATION_URL and DATABASE_TENANT_URL are set together, beside DATABASE_URL.");
  if (config.CLICKHOUSE_CLUSTER !== null && !config.CLICKHOUSE_URL) faults.push("CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL: the embedded ClickHouse is one server.");
  const login = [config.KAFKA_SASL_USERNAME === null && "KAFKA_SASL_USERNAME", config.KAFKA_SASL_PASSWORD === null && "KAFKA_SASL_PASSWORD", config.KAFKA_SASL_MECHANISM === "oauthbearer" && config.KAFKA_SASL_TOKEN_URL === null && "KAFKA_SASL_TOKEN_URL"].filter(Boolean);
  if (config.KAFKA_SASL_MECHANISM !== "none" && login.length > 0) faults.push(`KAFKA_SASL_MECHANISM=${config.KAFKA_SASL_MECHANISM} needs ${login.join(", ")}.`);
  if ((config.KAFKA_SSL_CERT_FILE === null) !== (config.KAFKA_SSL_KEY_FILE === null)) faults.push("KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE are set together.");
  if (!config.KAFKA_SSL && (config.KAFKA_SSL_CA_FILE !== null || config.KAFKA_SSL_CERT_FILE !== null)) faults.push("KAFKA_SSL_CA_FILE and KAFKA_SSL_CERT_FILE need KAFKA_SSL=true.");
  if (config.SMTP_URL !== null && config.MAIL_FROM === null) faults.push("SMTP_URL needs MAIL_FROM: whom mail comes from, such as Acme Status <status@example.com>.");
  if (config.PHAROS_ROLES.length < ROLES.length) {
    const missing = [config.KAFKA_BROKERS.length === 0 && "KAFKA_BROKERS", !config.DATABASE_URL && "DATABASE_URL", !config.CLICKHOUSE_URL && "CLICKHOUSE_URL"].filter(Boolean);
    if (missing.length > 0) faults.push(`PHAROS_ROLES names only some roles, so the stores must be shared: set ${missing.join(", ")}. On embedded stores every role runs in one process (PHAROS_ROLES=all).`);
  }
  return faults;
}

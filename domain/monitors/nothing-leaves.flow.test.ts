import { createServer, type Server } from "node:http";
import { isIP, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Failure } from "../../platform/failures.ts";
import { askOverTcp } from "../../platform/outbound/ask-over-tcp.ts";
import { describeError } from "../../platform/outbound/describe-error.ts";
import { makeOutbound } from "../../platform/outbound/outbound.ts";
import { systemResolve, type Resolve } from "../../platform/outbound/resolve-public.ts";
import { outboundRules } from "../../platform/outbound/rules.ts";
import { trust } from "../../platform/outbound/trust.ts";
import { HOSTS_NOT_PUBLIC, NAMES_NOT_PUBLIC } from "../../testing/hosts-not-public.ts";
import { getOverHttp } from "./domain/ask-rdap.ts";
import { makeTurns } from "./domain/take-turns.ts";
import { makeCertificateProbe } from "./ssl/probe.ts";
import { readHost } from "./ssl/read-host.ts";
import { checkMonitorUrl } from "./uptime/check-url.ts";
import { makeUptimeProbe } from "./uptime/probe.ts";

/** Where the first hop of a redirect stands: the one address that is allowed here. */
const ALLOWED = "127.0.0.2";
const config = { OUTBOUND_ALLOW: [ALLOWED], OUTBOUND_PORTS: [] as [number, number][], OUTBOUND_CA_FILE: null };
const UNTIL = new AbortController().signal;

let looked = 0;
const resolve: Resolve = (name) => {
  looked++;
  const address = NAMES_NOT_PUBLIC.get(name);
  return address === undefined ? systemResolve(name) : Promise.resolve([{ address, family: isIP(address) || 6 }]);
};

/** Whoever connects to this machine is counted. */
let canary: { server: Server; port: number; connections: number };
let redirecting: { server: Server; port: number; to: string };

beforeAll(async () => {
  canary = { server: createServer((_, response) => response.end("secret")), port: 0, connections: 0 };
  canary.server.on("connection", () => canary.connections++);
  // On every address of this machine but the allowed one, which is taken first.
  redirecting = { server: createServer((_, response) => response.writeHead(302, { location: Buffer.from(redirecting.to).toString("latin1") }).end()), port: 0, to: "" };
  await new Promise<void>((done) => redirecting.server.listen(0, ALLOWED, done));
  redirecting.port = (redirecting.server.address() as AddressInfo).port;
  await new Promise<void>((done) => canary.server.listen(0, "::", done));
  canary.port = (canary.server.address() as AddressInfo).port;
});
afterAll(() => {
  canary.server.close();
  redirecting.server.close();
});

const target = { method: "GET", headers: {}, body: null, timeoutMs: 5_000, expectedStatusCodes: [], requiredKeyword: null, followRedirects: true, verifySsl: false };
const needs = { outbound: { ...outboundRules(config), secureContext: trust(null), resolve }, turns: makeTurns(0), timeoutMs: 5_000 };
const bare = (host: string) => host.replace(/^\[|\]$/g, "");

/** Each way out of the house: the sentence with which it refuses a host, or null when it went there. */
const WAYS: Record<string, (host: string) => Promise<string | null>> = {
  "a webhook, a channel or a workflow": async (host) => {
    const result = await outbound.send({ method: "POST", url: `http://${host}:${canary.port}/`, headers: {}, body: "{}", timeoutMs: 5_000 });
    return result.kind === "failed" ? result.error : null;
  },
  "an uptime check": async (host) => {
    const refusal = refusalOf(() => checkMonitorUrl(`http://${host}:${canary.port}/`, config));
    return refusal ?? (await uptime({ ...target, url: `http://${host}:${canary.port}/` })).error;
  },
  "a redirect of an uptime check": async (host) => {
    redirecting.to = `http://${host}:${canary.port}/`;
    return (await uptime({ ...target, url: `http://${ALLOWED}:${redirecting.port}/` })).error;
  },
  "a certificate": async (host) => {
    let name = "";
    const refusal = refusalOf(() => void (name = readHost(host)));
    if (refusal !== null) return refusal;
    const result = await certificates({ host: name, port: canary.port });
    return result.kind === "unreachable" ? result.error : null;
  },
  RDAP: async (host) => {
    const url = URL.parse(`http://${host}:${canary.port}/`);
    if (!url) return "not a valid URL";
    return getOverHttp(needs, url, UNTIL, "*/*").then(() => null, sentenceOf);
  },
  WHOIS: (host) => askOverTcp({ host: bare(host), port: canary.port, text: "example.com\r\n", limitBytes: 100, signal: UNTIL, resolve, ...outboundRules(config) }).then(() => null, (error: unknown) => describeError(error, host)),
};

const outbound = makeOutbound({ config, resolve });
const uptime = makeUptimeProbe(config, resolve);
const certificates = makeCertificateProbe({ config, resolve, timeoutMs: 5_000 });

const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/** Not what a host says that was connected to, nor that nobody was there. */
const REFUSED = /not public|no public address|not a valid URL|is not a host name|must be a host name|an address that is none|does not exist/;

describe.each(Object.keys(WAYS))("%s", (way) => {
  it(`goes to none of ${HOSTS_NOT_PUBLIC.length} hosts that are not public`, async () => {
    expect(HOSTS_NOT_PUBLIC.length).toBeGreaterThan(300);
    const answers: [string, string | null][] = [];
    for (const host of HOSTS_NOT_PUBLIC) answers.push([host, await WAYS[way]!(host)]);
    expect(answers.filter(([, refusal]) => !REFUSED.test(refusal ?? "it was reached"))).toEqual([]);
    expect(canary.connections).toBe(0);
  });

  it(`goes to none of ${NAMES_NOT_PUBLIC.size} names that lead to such addresses, each looked up once`, async () => {
    const answers: [string, string | null][] = [];
    for (const name of NAMES_NOT_PUBLIC.keys()) {
      const before = looked;
      answers.push([name, await WAYS[way]!(name)]);
      expect(looked - before).toBe(1);
    }
    expect(answers.filter(([, refusal]) => !/not public|no public address/.test(refusal ?? "it was reached"))).toEqual([]);
    // Whoever set the name learns nothing of where it leads inside.
    expect(answers.filter(([name, refusal]) => refusal?.includes(NAMES_NOT_PUBLIC.get(name)!))).toEqual([]);
    expect(canary.connections).toBe(0);
  });
});

it("nothing goes to a port that the operator has not opened", async () => {
  const shut = { OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_PORTS: [[1, 1]] as [number, number][], OUTBOUND_CA_FILE: null };
  const url = `http://127.0.0.1:${canary.port}/`;
  const rules = { ...needs, outbound: { ...needs.outbound, ...outboundRules(shut) } };
  const closed = /^Port \d+ is not open for outgoing requests/;
  expect(await makeOutbound({ config: shut }).send({ method: "GET", url, headers: {}, body: null, timeoutMs: 5_000 })).toMatchObject({ error: expect.stringMatching(closed) });
  expect(await makeUptimeProbe(shut)({ ...target, url })).toMatchObject({ error: expect.stringMatching(closed) });
  expect(await makeCertificateProbe({ config: shut })({ host: "127.0.0.1", port: canary.port })).toMatchObject({ kind: "unreachable", error: expect.stringMatching(closed) });
  expect(await getOverHttp(rules, new URL(url), UNTIL, "*/*").catch(sentenceOf)).toMatch(closed);
  expect(await askOverTcp({ host: "127.0.0.1", port: canary.port, text: "", limitBytes: 1, signal: UNTIL, ...outboundRules(shut) }).catch(sentenceOf)).toMatch(closed);
  expect(canary.connections).toBe(0);
});

it("the canary hears of those who come", async () => {
  const open = makeOutbound({ config: { ...config, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"] } });
  expect(await open.send({ method: "GET", url: `http://127.0.0.1:${canary.port}/`, headers: {}, body: null, timeoutMs: 5_000 })).toMatchObject({ body: "secret" });
  expect(canary.connections).toBe(1);
  await open.close();
});

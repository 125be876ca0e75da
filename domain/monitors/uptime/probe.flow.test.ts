import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Resolve } from "../../../platform/outbound/resolve-public.ts";
import { makeCertificate, type Certificate } from "../../../testing/certificate.ts";
import { startFaultyHttp, type FaultyHttp } from "../../../testing/faulty-http.ts";
import { makeUptimeProbe, type ProbeResult, type UptimeTarget } from "./probe.ts";

let certificate: Certificate;
let farm: FaultyHttp;

beforeAll(async () => {
  certificate = makeCertificate();
  farm = await startFaultyHttp(certificate);
});
afterAll(async () => {
  await farm.stop();
  certificate.remove();
});

interface Options extends Partial<UptimeTarget> {
  trusted?: boolean;
  resolve?: Resolve;
}

/** Addresses of servers begin with their name in place of scheme and host. */
function addressOf(url: string): string {
  const [, scheme, name, rest = ""] = /^(?:(https?):\/\/)?(\w+)(\/.*)?$/.exec(url) ?? [];
  if (name === "http" || name === "https") return `${farm[name]}${rest}`;
  const host = farm.raw[name as keyof FaultyHttp["raw"]];
  return host === undefined ? url : `${scheme ?? "http"}://${host}${rest}`;
}

function probe(url: string, { trusted = false, resolve, ...target }: Options = {}): Promise<ProbeResult> {
  const run = makeUptimeProbe({ OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_CA_FILE: trusted ? certificate.file : null }, resolve);
  return run({ method: "GET", headers: {}, body: null, timeoutMs: 20_000, expectedStatusCodes: [], requiredKeyword: null, followRedirects: true, verifySsl: true, ...target, url: addressOf(url) });
}

const KEYWORD = { requiredKeyword: "all is well" };

describe("a check", () => {
  test.concurrent.each<[string, Options, Partial<ProbeResult>]>([
    ["http/ok", {}, { statusCode: 200 }],
    ["http/status/204", {}, { statusCode: 204 }],
    ["http/status/404", { expectedStatusCodes: [200, 404] }, { statusCode: 404 }],
    ["http/status/301", { expectedStatusCodes: [301] }, { statusCode: 301 }],
    ["http/ok", { method: "HEAD" }, { statusCode: 200 }],
    ["http/keyword", KEYWORD, { statusCode: 200 }],
    ["http/split", KEYWORD, { statusCode: 200 }],
    ["http/latin", { requiredKeyword: "grün" }, { statusCode: 200 }],
    ["http/huge", {}, { statusCode: 200 }],
    ["http/chain/10", {}, { statusCode: 200 }],
    ["https/ok", { trusted: true }, { statusCode: 200 }],
    ["https/ok", { verifySsl: false }, { statusCode: 200 }],
  ])("of %s with %j is good", async (url, options, expected) => {
    expect(await probe(url, options)).toMatchObject({ error: null, ...expected });
  });

  test.concurrent.each<[string, Options, string | RegExp, number | null]>([
    ["http/status/503", {}, "127.0.0.1 answered 503, not 200 to 299.", 503],
    ["http/ok", { expectedStatusCodes: [201] }, "127.0.0.1 answered 200, not 201.", 200],
    ["http/status/301", {}, "127.0.0.1 answered 301, not 200 to 299.", 301],
    ["http/chain/1", { followRedirects: false }, "127.0.0.1 answered 302, not 200 to 299.", 302],
    ["http/ok", KEYWORD, 'The answer does not hold the keyword "all is well".', 200],
    ["http/late", KEYWORD, 'The answer does not hold the keyword "all is well".', 200],
    ["http/circle/a", {}, /^The redirects go in a circle: http:\/\/127\.0\.0\.1:\d+\/circle\/a comes again\.$/, 302],
    ["http/chain/11", {}, "There are more than 10 redirects.", 302],
    ["http/to/http%3A%2F%2F", {}, "127.0.0.1 redirected to an address that is none.", 302],
    ["http/to/http%3A%2F%2F10.0.0.1%2Fadmin", {}, /^A redirect leads to http:\/\/10\.0\.0\.1\/admin\. The address 10\.0\.0\.1 is not public\./, null],
    ["http/to/file%3A%2F%2F%2Fetc%2Fpasswd", {}, /The URL must use https, not file\./, null],
    ["http/reset", {}, "127.0.0.1 cut the connection before it had answered.", null],
    ["http/reset-body", {}, "127.0.0.1 ended its answer before it was complete.", null],
    ["closing", {}, "127.0.0.1 cut the connection before it had answered.", null],
    ["mail", {}, "127.0.0.1 answered with something that is not HTTP.", null],
    ["https://mail", {}, "No TLS connection to 127.0.0.1 could be made.", null],
    ["gone", {}, "Nothing listens at 127.0.0.1: the connection was refused.", null],
    ["unwanted", {}, /^The address 127\.0\.0\.2 is not public\./, null],
    ["https/ok", {}, "The certificate of localhost is self-signed.", null],
  ])("of %s with %j fails: %s", async (url, options, error, statusCode) => {
    const result = await probe(url, options);
    expect(result.error).toEqual(typeof error === "string" ? error : expect.stringMatching(error));
    expect(result.statusCode).toBe(statusCode);
  });

  const never: Resolve = () => new Promise(() => undefined);
  test.concurrent.each<[string, Options, string, (keyof ProbeResult)[]]>([
    ["http://www.example.com/", { resolve: never }, "The name www.example.com was not looked up within 0.6 s.", ["dnsMs"]],
    ["full", {}, "No connection to 127.0.0.1 was made within 0.6 s.", ["dnsMs", "connectMs"]],
    ["https://silent", {}, "No TLS connection to 127.0.0.1 was made within 0.6 s.", ["dnsMs", "connectMs", "tlsMs"]],
    ["silent", {}, "No answer from 127.0.0.1 within 0.6 s.", ["dnsMs", "connectMs", "firstByteMs"]],
    ["http/hang", {}, "No answer from 127.0.0.1 within 0.6 s.", ["dnsMs", "connectMs", "firstByteMs"]],
    ["http/hang-body", {}, "No complete answer from 127.0.0.1 within 0.6 s.", ["dnsMs", "connectMs", "firstByteMs"]],
    ["http/trickle", {}, "No complete answer from 127.0.0.1 within 0.6 s.", ["dnsMs", "connectMs", "firstByteMs"]],
  ])("of %s ends in time: %#", async (url, options, error, reached) => {
    const { error: found, responseTimeMs, ...result } = await probe(url, { ...options, timeoutMs: 600 });
    expect(found).toBe(error);
    expect(responseTimeMs).toBeGreaterThanOrEqual(590);
    expect(Object.keys(result).filter((phase) => phase !== "statusCode" && result[phase as keyof typeof result] !== null)).toEqual(reached);
  });
});

test("the phases make up the whole, over all redirects", async () => {
  const result = await probe("https/chain/3", { trusted: true });
  const { dnsMs, connectMs, tlsMs, firstByteMs, responseTimeMs } = result;
  expect(result.error).toBeNull();
  for (const phase of [dnsMs, connectMs, tlsMs, firstByteMs]) expect(phase).toBeGreaterThanOrEqual(0);
  expect(dnsMs! + connectMs! + tlsMs! + firstByteMs!).toBeLessThanOrEqual(responseTimeMs + 3);
});

test("a slow answer is in the time of the first byte", async () => {
  const { firstByteMs, connectMs, responseTimeMs } = await probe("http/slow/300");
  expect(firstByteMs).toBeGreaterThanOrEqual(290);
  expect(responseTimeMs).toBeGreaterThanOrEqual(firstByteMs! + connectMs! - 2);
});

describe("what is sent", () => {
  test("is the method, the headers and the body, ours giving way to the monitor's", async () => {
    const body = '"method":"PATCH"';
    expect(await probe("http/echo", { method: "PATCH", headers: { "X-Own": "1", "User-Agent": "mine" }, body: "ä", requiredKeyword: body })).toMatchObject({ error: null });
    expect(await probe("http/echo", { method: "PATCH", headers: { "X-Own": "1", "User-Agent": "mine" }, body: "ä", requiredKeyword: '"body":"ä"' })).toMatchObject({ error: null });
    expect(await probe("http/echo", { headers: { "User-Agent": "mine" }, requiredKeyword: '"user-agent":"mine"' })).toMatchObject({ error: null });
    expect(await probe("http/echo", { requiredKeyword: '"user-agent":"Pharos-Uptime/1.0"' })).toMatchObject({ error: null });
  });

  test("goes through a redirect within an origin, and its headers not to another", async () => {
    const [headers, requiredKeyword] = [{ authorization: "Bearer secret" }, "Bearer secret"];
    expect(await probe("http/to/%2Fecho", { headers, requiredKeyword })).toMatchObject({ error: null });
    const elsewhere = encodeURIComponent(`${farm.http.replace("127.0.0.1", "localhost")}/echo`);
    expect(await probe(`http/to/${elsewhere}`, { headers, requiredKeyword })).toMatchObject({ error: expect.stringContaining("does not hold"), statusCode: 200 });
  });

  test("is a GET after the redirect of a POST, unless that is a 307", async () => {
    expect(await probe("http/to/%2Fecho", { method: "POST", body: "x", requiredKeyword: '"method":"GET"' })).toMatchObject({ error: null });
    expect(await probe("http/kept-to/%2Fecho", { method: "POST", body: "x", requiredKeyword: '"body":"x"' })).toMatchObject({ error: null });
  });

  test("takes a connection of its own for each check and each hop", async () => {
    const before = farm.connections();
    await Promise.all([probe("http/ok"), probe("http/ok"), probe("http/chain/2")]);
    expect(farm.connections() - before).toBe(5);
  });
});

describe("an address that is not public", () => {
  test("is connected to neither by a redirect nor by a name that changes", async () => {
    const location = encodeURIComponent(`http://${farm.raw.unwanted}/`);
    expect((await probe(`http/to/${location}`)).error).toContain("A redirect leads to http://127.0.0.2");
    const resolve: Resolve = () => Promise.resolve([{ address: "127.0.0.2", family: 4 }]);
    const { port } = new URL(`http://${farm.raw.unwanted}`);
    expect((await probe(`http://www.example.com:${port}/`, { resolve })).error).toContain("www.example.com has no public address.");
    expect((await probe(`http/to/${encodeURIComponent(`http://www.example.com:${port}/`)}`, { resolve })).error).toContain("www.example.com has no public address.");
    expect(farm.unwantedConnections()).toBe(0);
  });
});

test("a certificate for another name fails, unless any is accepted", async () => {
  const resolve: Resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
  const url = `https://www.example.com:${new URL(farm.https).port}/ok`;
  expect(await probe(url, { resolve, trusted: true })).toMatchObject({ error: "The certificate of www.example.com is for another name." });
  expect(await probe(url, { resolve, verifySsl: false })).toMatchObject({ error: null });
});

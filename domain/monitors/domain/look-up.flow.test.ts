import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeLog } from "../../../platform/log.ts";
import { rdapDomain, startRdapRegistry, startWhoisRegistry, type RdapRegistry, type WhoisRegistry } from "../../../testing/registries.ts";
import { makeLookUp, type LookUp } from "./look-up.ts";

const EXPIRES = "2026-08-13T04:00:00.000Z";
const COM = `Domain Name: EXAMPLE.COM\r\nRegistry Expiry Date: ${EXPIRES}\r\nRegistrar: Example\r\nName Server: ns1.example.net\r\n`;

let [rdap, other]: RdapRegistry[] = [];
let [root, registry, registrar]: WhoisRegistry[] = [];

beforeAll(async () => {
  [rdap, other] = [await startRdapRegistry(), await startRdapRegistry()];
  [root, registry, registrar] = [await startWhoisRegistry(), await startWhoisRegistry(), await startWhoisRegistry()];
});
afterAll(() => Promise.all([rdap, other, root, registry, registrar].map((each) => each!.stop())));

let status: number;
let headers: Record<string, string>;
let body: string;

beforeEach(() => {
  [status, headers, body] = [200, {}, JSON.stringify(rdapDomain("example.com", { expires: EXPIRES }))];
  rdap!.answer((request, response) => {
    if (request.url === "/dns.json") response.end(JSON.stringify({ version: "1.0", services: [[["com", "net", "de"], [rdap!.base]], [["away"], ["http://127.0.0.1:9/"]], [["odd"], []]] }));
    else response.writeHead(status, headers).end(body);
  });
  root!.answer(`refer: ${registry!.address}\r\n`);
  registry!.answer(COM);
  registrar!.answer(COM);
  for (const each of [rdap!, other!, root!, registry!, registrar!]) each.asked.length = 0;
});

function makeTestLookUp(changes: { allow?: string[]; pauseMs?: number; timeoutMs?: number; bootstrap?: string } = {}): LookUp {
  const { allow = ["127.0.0.1"], pauseMs = 0, timeoutMs = 5_000, bootstrap = `${rdap!.base}dns.json` } = changes;
  return makeLookUp({ config: { OUTBOUND_PORTS: [], OUTBOUND_ALLOW: allow, OUTBOUND_CA_FILE: null, RDAP_BOOTSTRAP_URL: bootstrap, WHOIS_ROOT: root!.address, REGISTRY_PAUSE_MS: pauseMs }, log: makeLog("silent"), timeoutMs });
}

describe("by RDAP", () => {
  it("gives the registration, the bootstrap being fetched once", async () => {
    const lookUp = makeTestLookUp();
    const registration = { registrar: "Example Registrar Ltd", registrar_url: "https://registrar.example", created_date: "2001-05-01T04:00:00.000Z", updated_date: "2025-04-01T10:00:00.000Z", expiry_date: EXPIRES, nameservers: ["ns1.example.net", "ns2.example.net"], status: ["client transfer prohibited"] };
    expect(await lookUp("example.com", "rdap")).toEqual({ kind: "found", registration, error: null });
    expect(await lookUp("example.com", "auto")).toMatchObject({ kind: "found" });
    expect(rdap!.asked).toEqual(["/dns.json", "/domain/example.com", "/domain/example.com"]);
    expect(root!.asked).toEqual([]);
  });

  it("takes 404 for not registered, without asking by WHOIS", async () => {
    status = 404;
    expect(await makeTestLookUp()("example.com", "auto")).toEqual({ kind: "not_registered", error: "example.com is not registered." });
    expect(root!.asked).toEqual([]);
  });

  it("follows three redirects and no more", async () => {
    [status, headers] = [302, { location: `${other!.base}domain/example.com` }];
    let left = 2;
    other!.answer((_request, response) => {
      if (left-- > 0) response.writeHead(301, { location: "/again" }).end();
      else response.end(body);
    });
    expect(await makeTestLookUp()("example.com", "rdap")).toMatchObject({ kind: "found", error: null });
    left = 3;
    expect(await makeTestLookUp()("example.com", "rdap")).toMatchObject({ kind: "failed", error: "127.0.0.1 redirects more than 3 times." });
  });

  it("does not follow a redirect to an address that is not public", async () => {
    const { port } = new URL(other!.base);
    [status, headers] = [307, { location: `http://127.0.0.2:${port}/domain/example.com` }];
    expect(await makeTestLookUp()("example.com", "rdap")).toMatchObject({ kind: "failed", error: expect.stringContaining("127.0.0.2 is not public") as string });
    expect(other!.asked).toEqual([]);
  });

  it.each([
    [500, "", "127.0.0.1 answered with status 500."],
    [200, "<html>", "127.0.0.1 answered with something that is not RDAP."],
    [200, '{"objectClassName":"nameserver"}', "127.0.0.1 answered with something that is not RDAP."],
    [200, `{"a":"${"x".repeat(1_100_000)}"}`, "127.0.0.1 answered with more than 1 MiB."],
  ])("explains status %d with %.20s", async (given, text, error) => {
    [status, body] = [given, text];
    expect(await makeTestLookUp()("example.com", "rdap")).toEqual({ kind: "failed", error, retryAfterMs: null });
  });

  it("survives fields of the wrong shape", async () => {
    body = JSON.stringify({ objectClassName: "domain", events: [null, { eventAction: "expiration", eventDate: 5 }], entities: [{ roles: ["registrar"], vcardArray: ["vcard", [["fn"], 7]] }, "x"], nameservers: {}, status: [1, "active"] });
    expect(await makeTestLookUp()("example.com", "rdap")).toMatchObject({ kind: "found", registration: { expiry_date: null, registrar: null, nameservers: [], status: ["active"] }, error: "127.0.0.1 answered without the date on which example.com expires." });
  });

  it("keeps nothing that the store cannot hold, and no link that runs", async () => {
    body = JSON.stringify(rdapDomain("example.com", { expires: EXPIRES, registrar: "Ex\u0000am\ud800ple" })).replace("https://registrar.example", "javascript:alert(1)");
    expect(await makeTestLookUp()("example.com", "rdap")).toMatchObject({ kind: "found", registration: { registrar: "Ex am ple", registrar_url: null } });
  });

  it("explains a hang, a cut, and a server that is away", async () => {
    const lookUp = makeTestLookUp({ timeoutMs: 300 });
    await lookUp("example.com", "rdap");
    rdap!.answer((_request, response) => void response.writeHead(200).write("{"));
    expect(await lookUp("example.com", "rdap")).toMatchObject({ kind: "failed", error: "127.0.0.1 gave no complete answer within 0.3 s." });
    rdap!.answer((request) => void request.socket.destroy());
    expect(await lookUp("example.com", "rdap")).toMatchObject({ kind: "failed", error: "127.0.0.1 cut the connection before it had answered." });
    expect(await lookUp("example.away", "rdap")).toMatchObject({ kind: "failed", error: "Nothing listens at 127.0.0.1: the connection was refused." });
    expect(await lookUp("example.odd", "rdap")).toMatchObject({ kind: "failed", error: "No RDAP server is known for example.odd." });
  });

  it("leaves a server alone that asks for it, for all domains", async () => {
    [status, headers] = [429, { "retry-after": "120" }];
    const lookUp = makeTestLookUp();
    expect(await lookUp("example.com", "rdap")).toEqual({ kind: "failed", error: "127.0.0.1 answers too many questions just now.", retryAfterMs: 120_000 });
    const asked = rdap!.asked.length;
    expect(await lookUp("example.net", "rdap")).toMatchObject({ kind: "failed", retryAfterMs: expect.any(Number) as number });
    expect(rdap!.asked.length).toBe(asked);
    expect(await lookUp("example.net", "auto")).toMatchObject({ kind: "found", registration: { registrar: "Example" } });
  });

  it("uses the shipped servers while the bootstrap file cannot be had", async () => {
    const lookUp = makeTestLookUp({ bootstrap: "http://127.0.0.1:9/dns.json", timeoutMs: 300 });
    expect(await lookUp("example.odd", "rdap")).toMatchObject({ error: "No RDAP server is known for example.odd." });
  });
});

describe("by WHOIS", () => {
  it("follows the root's referral, and asks as the registry wants it", async () => {
    const lookUp = makeTestLookUp();
    expect(await lookUp("example.com", "whois")).toMatchObject({ kind: "found", registration: { expiry_date: EXPIRES, registrar: "Example" }, error: null });
    await lookUp("example.de", "whois");
    await lookUp("example.jp", "whois");
    await lookUp("example.io", "whois");
    expect(root!.asked).toEqual(["example.com", "example.de", "example.jp", "example.io"]);
    expect(registry!.asked).toEqual(["domain example.com", "-T dn,ace example.de", "example.jp/e", "example.io"]);
  });

  it("asks the registrar when the registry does not tell the expiry", async () => {
    registry!.answer(`Domain Name: EXAMPLE.COM\r\nRegistrar: The Registry's Word\r\nRegistrar WHOIS Server: ${registrar!.address}\r\nName Server: ns1.example.net\r\n`);
    expect(await makeTestLookUp()("example.com", "whois")).toMatchObject({ kind: "found", registration: { expiry_date: EXPIRES } });
    expect(registrar!.asked).toEqual(["example.com"]);
    registrar!.answer((_question, socket) => void socket.destroy());
    expect(await makeTestLookUp()("example.com", "whois")).toMatchObject({ kind: "found", registration: { registrar: "The Registry's Word" }, error: "127.0.0.1 answered without the date on which example.com expires." });
  });

  it("says which registries publish no expiry", async () => {
    registry!.answer("Domain: example.de\nNserver: ns1.example.de\nStatus: connect\n");
    expect(await makeTestLookUp()("example.de", "whois")).toMatchObject({ kind: "found", registration: { nameservers: ["ns1.example.de"] }, error: "The registry of .de does not publish when registrations expire, so the expiry of example.de cannot be watched." });
  });

  it("reads a root that knows the domain itself, and Latin-1", async () => {
    root!.answer((_question, socket) => void socket.end(Buffer.from("domain: example.test\nregistrar: Müller\nexpires: 2026-08-13\n", "latin1")));
    expect(await makeTestLookUp()("example.test", "whois")).toMatchObject({ kind: "found", registration: { registrar: "Müller" } });
  });

  it("does not go where a referral to an address that is not public leads", async () => {
    root!.answer(`refer: 127.0.0.2:${registry!.address.split(":")[1]}\r\n`);
    expect(await makeTestLookUp()("example.com", "whois")).toMatchObject({ kind: "failed", error: expect.stringContaining("127.0.0.2 is not public") as string });
    expect(registry!.asked).toEqual([]);
    expect(await makeTestLookUp({ allow: [] })("example.com", "whois")).toMatchObject({ kind: "failed", error: expect.stringContaining("OUTBOUND_ALLOW") as string });
  });

  it("explains what is not found, empty, unreadable, cut off, hanging or away", async () => {
    const lookUp = makeTestLookUp({ timeoutMs: 300 });
    const answers: [Parameters<WhoisRegistry["answer"]>[0], object][] = [
      ['No match for "EXAMPLE.COM".\r\n', { kind: "not_registered", error: "example.com is not registered." }],
      ["", { kind: "failed", error: "127.0.0.1 closed the connection without an answer." }],
      ["<html>\r\n", { kind: "failed", error: "127.0.0.1 answered with something that could not be read." }],
      [(_question, socket) => void socket.resetAndDestroy(), { kind: "failed", error: "127.0.0.1 cut the connection before it had answered." }],
      [() => undefined, { kind: "failed", error: "127.0.0.1 gave no complete answer within 0.3 s." }],
      // 64 KiB are read of one that never ends.
      [(_question, socket) => void socket.write(`${COM}${"x".repeat(200_000)}`), { kind: "found" }],
    ];
    for (const [answer, expected] of answers) {
      registry!.answer(answer);
      expect(await lookUp("example.com", "whois")).toMatchObject(expected);
    }
    root!.answer("refer: 127.0.0.1:9\r\n");
    expect(await lookUp("example.com", "whois")).toMatchObject({ kind: "failed", error: "Nothing listens at 127.0.0.1: the connection was refused." });
  });

  it("leaves a server alone that has had enough", async () => {
    const lookUp = makeTestLookUp();
    registry!.answer("Query rate limit exceeded\r\n");
    expect(await lookUp("example.com", "whois")).toMatchObject({ kind: "failed", retryAfterMs: 3_600_000 });
    expect(await lookUp("example.io", "whois")).toMatchObject({ kind: "failed", error: "127.0.0.1 answers too many questions just now." });
    expect(registry!.asked).toEqual(["domain example.com"]);
  });
});

describe("by either", () => {
  it("falls back on WHOIS when RDAP fails, or does not tell the expiry that others publish", async () => {
    const lookUp = makeTestLookUp();
    expect(await lookUp("example.io", "auto")).toMatchObject({ kind: "found", registration: { registrar: "Example" } });
    body = JSON.stringify(rdapDomain("example.com", { expires: null }));
    expect(await lookUp("example.com", "auto")).toMatchObject({ kind: "found", registration: { registrar: "Example" }, error: null });
    const asked = root!.asked.length;
    expect(await lookUp("example.de", "auto")).toMatchObject({ kind: "found", registration: { registrar: "Example Registrar Ltd", expiry_date: null }, error: expect.stringContaining(".de does not publish") as string });
    expect(root!.asked.length).toBe(asked);
  });

  it("gives both reasons when both fail", async () => {
    status = 503;
    root!.answer("");
    expect(await makeTestLookUp()("example.com", "auto")).toMatchObject({ kind: "failed", error: "127.0.0.1 answered with status 503. 127.0.0.1 closed the connection without an answer." });
  });

  it("ends when it is told to, also while it waits for its turn", async () => {
    registry!.answer(() => undefined);
    const lookUp = makeTestLookUp();
    const stop = new AbortController();
    const both = [lookUp("example.com", "whois", stop.signal), lookUp("example.net", "whois", stop.signal)];
    await expect.poll(() => registry!.asked.length).toBe(1);
    stop.abort();
    expect(await Promise.all(both)).toMatchObject([{ kind: "failed" }, { kind: "failed" }]);
  });

  it("asks a server one thing at a time, with a pause between", async () => {
    const [lookUp, fresh] = [makeTestLookUp({ pauseMs: 60 }), await startWhoisRegistry()];
    fresh.answer(COM);
    root!.answer(`refer: ${fresh.address}\r\n`);
    await Promise.all(["a.com", "b.com", "c.com"].map((domain) => lookUp(domain, "whois")));
    await fresh.stop();
    const gaps = fresh.openedAt.slice(1).map((at, index) => at - fresh.openedAt[index]!);
    expect(gaps).toHaveLength(2);
    // Timers may be a little early.
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(58);
    expect(fresh.mostAtOnce()).toBe(1);
  });
});

import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeCertificate, type Certificate } from "../../testing/certificate.ts";
import { startReceiver, type Receiver } from "../../testing/receiver.ts";
import { makeOutbound, type Outbound, type OutboundResult } from "./outbound.ts";
import type { Resolve } from "./resolve-public.ts";

let certificate: Certificate;
const stops: (() => Promise<void>)[] = [];

beforeAll(() => {
  certificate = makeCertificate();
});
afterAll(() => certificate.remove());
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function open({ allow = ["127.0.0.0/8"], ports = [], caFile = certificate.file, resolve }: { allow?: string[]; ports?: [number, number][]; caFile?: string | null; resolve?: Resolve } = {}): Outbound {
  const outbound = makeOutbound({ config: { OUTBOUND_ALLOW: allow, OUTBOUND_PORTS: ports, OUTBOUND_CA_FILE: caFile }, ...(resolve && { resolve }) });
  stops.push(() => outbound.close());
  return outbound;
}

async function receive(answer: Parameters<typeof startReceiver>[1], from = certificate): Promise<Receiver> {
  const receiver = await startReceiver(from, answer);
  stops.push(() => receiver.stop());
  return receiver;
}

/** A TCP server without any manners. */
async function rawServer(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const post = (outbound: Outbound, url: string, timeoutMs = 60_000): Promise<OutboundResult> =>
  outbound.send({ method: "POST", url, headers: { "content-type": "application/json", "x-own": "1" }, body: '{"ä":1}', timeoutMs });

describe("a connection", () => {
  it("is kept for the next request to its origin, not for another name of the same address", async () => {
    const receiver = await receive((response) => response.end("ok"));
    const outbound = open();
    for (let n = 0; n < 5; n++) expect(await post(outbound, receiver.url)).toMatchObject({ kind: "response", body: "ok" });
    expect(receiver.connections()).toBe(1);
    expect(await post(outbound, `https://127.0.0.1:${receiver.port}/`)).toMatchObject({ kind: "response" });
    expect(receiver.connections()).toBe(2);
  });

  it("that the receiver closed meanwhile is made anew, without a failure", async () => {
    const receiver = await receive((response) => response.end("ok", () => setImmediate(() => response.socket?.destroy())));
    const outbound = open();
    for (let n = 0; n < 20; n++) expect(await post(outbound, receiver.url)).toMatchObject({ kind: "response", body: "ok" });
  });

  it("that is closed without an answer to its second request fails only when a new one does the same", async () => {
    let answers = 1;
    const receiver = await receive((response) => (answers-- > 0 ? response.end("ok") : response.socket?.destroy()));
    const outbound = open();
    expect(await post(outbound, receiver.url)).toMatchObject({ kind: "response" });
    expect(await post(outbound, receiver.url)).toMatchObject({ kind: "failed", error: "localhost cut the connection before it had answered." });
    expect(receiver.connections()).toBe(2);
  });

  it("with an answer that is not read to its end is not kept", async () => {
    const receiver = await receive((response) => response.end("x".repeat(100_000)));
    const outbound = open();
    for (let n = 0; n < 2; n++) expect((await post(outbound, receiver.url)).kind).toBe("response");
    expect(receiver.connections()).toBe(2);
  });

  it("goes where its name led when it was made; a new one is judged anew", async () => {
    const receiver = await receive((response, { path }) => (path === "/bye" ? response.writeHead(200, { connection: "close" }).end() : response.end("ok")));
    let address = "127.0.0.1";
    const outbound = open({ allow: ["127.0.0.1"], resolve: () => Promise.resolve([{ address, family: 4 }]) });
    const url = `https://hooks.example.com:${receiver.port}`;
    expect(await post(outbound, url)).toMatchObject({ kind: "response" });
    address = "169.254.169.254";
    expect(await post(outbound, `${url}/bye`)).toMatchObject({ kind: "response" });
    expect(await post(outbound, url)).toMatchObject({ kind: "failed", error: expect.stringContaining("no public address") });
  });
});

describe("a request", () => {
  it("arrives with its headers and body, and brings the answer back", async () => {
    const receiver = await receive((response) => response.writeHead(201, { "x-answer": "yes" }).end("thanks"));
    const result = await post(open(), `${receiver.url}/hook?a=b`);
    expect(result).toMatchObject({ kind: "response", status: 201, headers: { "x-answer": "yes" }, body: "thanks", durationMs: expect.any(Number) });
    expect(receiver.received).toMatchObject([{ method: "POST", path: "/hook?a=b", body: '{"ä":1}', headers: { "x-own": "1", "content-type": "application/json", "content-length": "8", host: `localhost:${receiver.port}` } }]);
  });

  it("reaches a literal address whose certificate names it", async () => {
    const receiver = await receive((response) => response.end("ok"));
    expect(await post(open(), `https://127.0.0.1:${receiver.port}/`)).toMatchObject({ kind: "response", status: 200 });
  });

  it("follows no redirect", async () => {
    const target = await receive((response) => response.end("reached"));
    const receiver = await receive((response) => response.writeHead(307, { location: target.url }).end());
    expect(await post(open(), receiver.url)).toMatchObject({ kind: "response", status: 307 });
    expect(target.connections()).toBe(0);
  });

  it("keeps the first 16 KiB of an endless answer and hangs up", async () => {
    let closed = false;
    const receiver = await receive((response) => {
      const writing = setInterval(() => response.write("0123456789".repeat(500)), 1);
      response.on("close", () => {
        clearInterval(writing);
        closed = true;
      });
    });
    const result = await post(open(), receiver.url);
    expect(result.kind === "response" && result.body.length).toBe(16_384);
    await expect.poll(() => closed).toBe(true);
  });

  it("gives text that can be stored whatever bytes come back", async () => {
    const receiver = await receive((response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0xc3, 0x62])));
    const result = await post(open(), receiver.url);
    expect(result).toMatchObject({ kind: "response", body: "a\uFFFD\uFFFD\uFFFDb" });
  });
});

describe("the time limit", () => {
  const failsInTime = async (url: string, needs: Partial<Parameters<typeof makeOutbound>[0]> = {}) => {
    const started = performance.now();
    const result = await post(open(needs), url, 300);
    expect(result).toMatchObject({ kind: "failed", error: "No complete answer within 0.3 s." });
    // Well below undici's own limits, of which the shortest is 10 s.
    expect(performance.now() - started).toBeLessThan(8_000);
  };

  it("covers a receiver that never answers", async () => failsInTime((await receive(() => undefined)).url));
  it("covers a receiver that never finishes its handshake", async () => failsInTime(`https://localhost:${await rawServer(() => undefined)}/`));
  it("covers a look-up that never ends", async () => failsInTime("https://hooks.example.com/", { resolve: () => new Promise(() => undefined) }));

  it("covers an answer that trickles", async () => {
    const receiver = await receive((response) => {
      response.writeHead(200);
      const trickling = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(trickling));
    });
    await failsInTime(receiver.url);
  });

  it("covers headers that trickle", async () => {
    const port = await rawServer((socket) => {
      const text = "HTTP/1.1 200 OK\r\nx-slow: ".concat("a".repeat(1_000));
      let sent = 0;
      const trickling = setInterval(() => socket.write(text[sent++]!), 20);
      socket.on("close", () => clearInterval(trickling));
    });
    const result = await post(open(), `http://localhost:${port}/`, 300);
    expect(result).toMatchObject({ kind: "failed", error: "No complete answer within 0.3 s." });
  });
});

describe("a failure is a sentence", () => {
  it("when the connection is refused", async () => {
    const receiver = await startReceiver(certificate, () => undefined);
    await receiver.stop();
    expect(await post(open(), receiver.url)).toMatchObject({ kind: "failed", error: "Nothing listens at localhost: the connection was refused." });
  });

  it("when the receiver hangs up", async () => {
    const receiver = await receive((response) => response.socket?.destroy());
    expect(await post(open(), receiver.url)).toMatchObject({ kind: "failed", error: "localhost cut the connection before it had answered." });
  });

  it("when the receiver hangs up in the middle of its answer", async () => {
    const receiver = await receive((response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      response.socket?.end();
    });
    expect(await post(open(), receiver.url)).toMatchObject({ kind: "failed", error: "localhost cut the connection before it had answered." });
  });

  it("when the name does not exist", async () => {
    const resolve: Resolve = () => Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }));
    expect(await post(open({ resolve }), "https://nobody.example.com/")).toMatchObject({ kind: "failed", error: "The name nobody.example.com does not exist." });
  });

  it("when the certificate is not trusted", async () => {
    const receiver = await receive((response) => response.end());
    expect(await post(open({ caFile: null }), receiver.url)).toMatchObject({ kind: "failed", error: "The certificate of localhost is self-signed." });
    expect(receiver.received).toEqual([]);
  });

  it("when the certificate is for another name", async () => {
    const other = makeCertificate(["other.example.com"]);
    const receiver = await receive((response) => response.end(), other);
    expect(await post(open({ caFile: other.file }), receiver.url)).toMatchObject({ kind: "failed", error: "The certificate of localhost is for another name." });
    other.remove();
  });

  it("when the other side speaks no TLS or no HTTP", async () => {
    const port = await rawServer((socket) => socket.end("220 mail.example.com ESMTP\r\n"));
    expect(await post(open(), `https://localhost:${port}/`)).toMatchObject({ kind: "failed", error: "No TLS connection to localhost could be made." });
    expect(await post(open(), `http://localhost:${port}/`)).toMatchObject({ kind: "failed", error: "localhost answered with something that is not HTTP." });
  });

  it("when a header cannot be sent", async () => {
    const receiver = await receive((response) => response.end());
    const result = await open().send({ method: "POST", url: receiver.url, headers: { "x-bad": "a\r\nb" }, body: "", timeoutMs: 60_000 });
    expect(result.kind).toBe("failed");
  });

  it("when Pharos stops meanwhile", async () => {
    const receiver = await receive(() => undefined);
    const outbound = open();
    const result = post(outbound, receiver.url);
    await expect.poll(() => receiver.received.length).toBe(1);
    await outbound.close();
    expect(await result).toMatchObject({ kind: "failed", error: "Pharos stopped before there was an answer." });
  });

  it("when the file of authorities cannot be read", () => {
    expect(() => open({ caFile: "/nonexistent.pem" })).toThrow(/OUTBOUND_CA_FILE="\/nonexistent\.pem" cannot be used/);
  });
});

describe("an address that is not public", () => {
  it.each(["https://localhost", "https://127.0.0.1", "https://127.1", "https://[::ffff:127.0.0.1]", "http://localhost"])("is not connected to through %s", async (origin) => {
    const receiver = await receive((response) => response.end());
    const result = await post(open({ allow: [] }), `${origin}:${receiver.port}/`);
    expect(result).toMatchObject({ kind: "failed", error: expect.stringContaining("OUTBOUND_ALLOW") });
    expect(receiver.connections()).toBe(0);
  });

  it("is not connected to through a name", async () => {
    const receiver = await receive((response) => response.end());
    const resolve: Resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }, { address: "::ffff:127.0.0.1", family: 6 }]);
    const result = await post(open({ allow: [], resolve }), `https://hooks.example.com:${receiver.port}/`);
    expect(result).toMatchObject({ kind: "failed", error: "The name hooks.example.com has no public address. Use a name with a public address. An operator of this Pharos can allow others with OUTBOUND_ALLOW." });
    expect(receiver.connections()).toBe(0);
  });

  it("is left out when a name also has a good one", async () => {
    const [good, bad] = [await receive((response) => response.end("good")), await rawServer((socket) => socket.end())];
    expect(bad).toBeGreaterThan(0);
    const resolve: Resolve = () => Promise.resolve([{ address: "10.255.255.1", family: 4 }, { address: "127.0.0.1", family: 4 }]);
    expect(await post(open({ resolve }), `https://hooks.example.com:${good.port}/`)).toMatchObject({ kind: "response", body: "good" });
  });

  it("cannot be slipped in by a name that changes after it was judged", async () => {
    const receiver = await receive((response) => response.end());
    let lookUps = 0;
    // The first answer is one that may be reached (and where nothing listens), every later one is this machine.
    const resolve: Resolve = () => Promise.resolve([{ address: lookUps++ === 0 ? "127.0.0.9" : "127.0.0.1", family: 4 }]);
    const result = await post(open({ allow: ["127.0.0.9"], resolve }), `https://hooks.example.com:${receiver.port}/`);
    expect(result).toMatchObject({ kind: "failed", error: expect.stringContaining("refused") });
    expect(lookUps).toBe(1);
    expect(receiver.connections()).toBe(0);
    // A second request looks up anew and is judged anew.
    const again = await post(open({ allow: ["127.0.0.9"], resolve }), `https://hooks.example.com:${receiver.port}/`);
    expect(again).toMatchObject({ kind: "failed", error: expect.stringContaining("no public address") });
    expect(receiver.connections()).toBe(0);
  });

  it("is refused in a URL with credentials or another scheme, too", async () => {
    for (const url of ["https://a:b@example.com/", "ftp://example.com/", "nonsense"]) expect((await post(open(), url)).kind).toBe("failed");
  });
});

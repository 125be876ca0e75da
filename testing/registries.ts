import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";

export interface RdapRegistry {
  /** `http://127.0.0.1:port/` */
  base: string;
  /** Paths as they were asked, in order. */
  asked: string[];
  /** What is answered from now on. */
  answer(handle: (request: IncomingMessage, response: ServerResponse) => void): void;
  stop(): Promise<void>;
}

/** An RDAP server on loopback; it knows nothing until told to. */
export async function startRdapRegistry(): Promise<RdapRegistry> {
  const asked: string[] = [];
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => void response.writeHead(404).end();
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    handle(request, response);
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    answer(given) {
      handle = given;
    },
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

/** A domain as RDAP gives it. */
export function rdapDomain(name: string, { expires, registrar = "Example Registrar Ltd" }: { expires: string | null; registrar?: string }): Record<string, unknown> {
  return {
    objectClassName: "domain",
    ldhName: name.toUpperCase(),
    status: ["client transfer prohibited"],
    events: [
      { eventAction: "registration", eventDate: "2001-05-01T04:00:00Z" },
      ...(expires === null ? [] : [{ eventAction: "expiration", eventDate: expires }]),
      { eventAction: "last changed", eventDate: "2025-04-01T10:00:00Z" },
    ],
    entities: [
      { objectClassName: "entity", roles: ["registrar"], vcardArray: ["vcard", [["version", {}, "text", "4.0"], ["fn", {}, "text", registrar], ["url", {}, "uri", "https://registrar.example"]]] },
      { objectClassName: "entity", roles: ["registrant"], vcardArray: ["vcard", [["version", {}, "text", "4.0"], ["fn", {}, "text", "Somebody Else"]]] },
    ],
    nameservers: [{ objectClassName: "nameserver", ldhName: "NS1.EXAMPLE.NET" }, { objectClassName: "nameserver", ldhName: "ns2.example.net." }],
  };
}

export interface WhoisRegistry {
  /** `127.0.0.1:port`, as a referral names it. */
  address: string;
  /** Questions without their line end, in order. */
  asked: string[];
  /** When each connection was opened, by the monotonic clock in ms. */
  openedAt: number[];
  /** The most connections that were open at once. */
  mostAtOnce(): number;
  /** What is answered from now on: a text, after which it closes, or whatever is done with the socket. */
  answer(given: string | ((question: string, socket: Socket) => void)): void;
  stop(): Promise<void>;
}

/** A WHOIS server (RFC 3912) on loopback; it knows nothing until told to. */
export async function startWhoisRegistry(): Promise<WhoisRegistry> {
  const [asked, openedAt, sockets] = [[] as string[], [] as number[], new Set<Socket>()];
  let most = 0;
  let handle: (question: string, socket: Socket) => void = (_question, socket) => void socket.end("No match.\r\n");
  const server = createTcpServer((socket) => {
    openedAt.push(performance.now());
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    let text = "";
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8");
      if (!text.endsWith("\r\n")) return;
      asked.push(text.trimEnd());
      handle(text.trimEnd(), socket);
    });
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    openedAt,
    mostAtOnce: () => most,
    answer(given) {
      handle = typeof given === "string" ? (_question, socket) => void socket.end(given) : given;
    },
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Certificate } from "./certificate.ts";

/** Real servers on this machine, each with its own manners. */
export interface FaultyHttp {
  /** http://127.0.0.1:port; what a path does stands in `PATHS`. */
  http: string;
  /** The same over TLS, at https://localhost:port, with the given certificate. */
  https: string;
  /** host:port of servers without HTTP: `silent` takes connections and says nothing, `closing` ends each at once, `mail` speaks SMTP, `full` is never connected to, `gone` has ended, `unwanted` is at 127.0.0.2. */
  raw: Record<"silent" | "closing" | "mail" | "full" | "gone" | "unwanted", string>;
  /** Connections that `unwanted` was made. */
  unwantedConnections(): number;
  /** Requests to each path so far. */
  asked(path: string): number;
  /** Connections to `http` so far. */
  connections(): number;
  /** The status that /switched answers. */
  setSwitched(status: number): void;
  stop(): Promise<void>;
}

type Behaviour = (request: IncomingMessage, response: ServerResponse, rest: string) => void;

const endless = (response: ServerResponse, chunk: string, everyMs: number) => {
  const writing = setInterval(() => response.write(chunk), everyMs);
  response.on("close", () => clearInterval(writing));
};

/** By the first step of the path; `rest` is the second. */
const PATHS: Record<string, Behaviour> = {
  ok: (_, response) => response.end("ok"),
  status: (_, response, rest) => response.writeHead(Number(rest)).end("as asked for"),
  hang: () => undefined,
  "hang-body": (_, response) => response.writeHead(200).write("begun"),
  trickle: (_, response) => endless(response.writeHead(200), ".", 20),
  reset: (request) => request.socket.resetAndDestroy(),
  "reset-body": (request, response) => response.writeHead(200, { "content-length": "100" }).write("half", () => request.socket.resetAndDestroy()),
  circle: (_, response, rest) => response.writeHead(302, { location: `/circle/${rest === "a" ? "b" : "a"}` }).end(),
  chain: (_, response, rest) => (rest === "0" ? response.end("end of the chain") : response.writeHead(302, { location: `/chain/${Number(rest) - 1}` }).end()),
  to: (_, response, rest) => response.writeHead(302, { location: decodeURIComponent(rest) }).end(),
  "kept-to": (_, response, rest) => response.writeHead(307, { location: decodeURIComponent(rest) }).end(),
  keyword: (_, response) => response.end("<p>all is well</p>"),
  split: (_, response) => response.write("<p>all is w", () => setImmediate(() => response.end("ell</p>"))),
  latin: (_, response) => response.writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" }).end(Buffer.from("gr\u00fcn", "latin1")),
  late: (_, response) => response.end(`${"x".repeat(2_000_000)}all is well`),
  huge: (_, response) => endless(response, "x".repeat(65_536), 1),
  slow: (_, response, rest) => void setTimeout(() => response.end("ok"), Number(rest)),
  echo: (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.end(JSON.stringify({ method: request.method, headers: request.headers, body: Buffer.concat(chunks).toString("utf8") })));
  },
};

export async function startFaultyHttp({ key, cert }: Pick<Certificate, "key" | "cert">): Promise<FaultyHttp> {
  const stops: (() => Promise<void>)[] = [];
  const asked = new Map<string, number>();
  let switched = 200;
  let connections = 0;
  let unwanted = 0;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "/";
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const [, first = "", rest = ""] = path.split("?")[0]!.split("/");
    if (first === "switched") response.writeHead(switched).end();
    else if (PATHS[first]) PATHS[first](request, response, rest);
    else response.writeHead(404).end();
  }

  async function listen<Kind extends Server | HttpServer>(server: Kind, host = "127.0.0.1"): Promise<number> {
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      // Clients that hang up are what this is for.
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    });
    server.on("tlsClientError", () => undefined);
    server.listen(0, host);
    await once(server, "listening");
    stops.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    });
    return (server.address() as AddressInfo).port;
  }

  const plain = createHttpServer(answer).on("connection", () => connections++);
  const raw = {
    silent: `127.0.0.1:${await listen(createServer())}`,
    closing: `127.0.0.1:${await listen(createServer((socket) => socket.destroy()))}`,
    mail: `127.0.0.1:${await listen(createServer((socket) => socket.end("220 mail.example.com ESMTP\r\n")))}`,
    unwanted: `127.0.0.2:${await listen(createServer(() => unwanted++), "127.0.0.2")}`,
    full: await startFull(stops),
    gone: `127.0.0.1:${await portOfNobody()}`,
  };
  return {
    http: `http://127.0.0.1:${await listen(plain)}`,
    https: `https://localhost:${await listen(createHttpsServer({ key, cert }, answer))}`,
    raw,
    unwantedConnections: () => unwanted,
    asked: (path) => asked.get(path) ?? 0,
    connections: () => connections,
    setSwitched: (status) => void (switched = status),
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

async function portOfNobody(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const STOPPED_SERVER = `const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => process.stdout.write(server.address().port + "\\n", () => process.kill(process.pid, "SIGSTOP")))`;

/** A process that listens and never accepts: with its queue full, the kernel answers nobody any more. */
async function startFull(stops: (() => Promise<void>)[]): Promise<string> {
  const child = spawn(process.execPath, ["-e", STOPPED_SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  const queued = [1, 2].map(() => connect(port, "127.0.0.1").on("error", () => undefined));
  await Promise.all(queued.map((socket) => once(socket, "connect")));
  stops.push(async () => {
    for (const socket of queued) socket.destroy();
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return `127.0.0.1:${port}`;
}

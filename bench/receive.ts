import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { IncomingMessage, ServerResponse } from "node:http";

/** What bench/scheduler.ts and bench/drain.ts ask and deliver to: answers 200 to everything but /hang, which gets no answer, over TLS when TLS_KEY and TLS_CERT are given. Prints its port. */
const { TLS_KEY: key, TLS_CERT: cert } = process.env;

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.url !== "/hang") request.on("end", () => response.end("ok"));
}

const server = key && cert ? createSecureServer({ key, cert }, answer) : createServer(answer);
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`));

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./certificate.ts";

interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  /** https://localhost:port */
  url: string;
  port: number;
  received: ReceivedRequest[];
  /** Connections made so far, also those that sent nothing. */
  connections(): number;
  stop(): Promise<void>;
}

/** A real HTTPS server on a free port. `answer` decides what it does with each request, once its body has come. */
export async function startReceiver({ key, cert }: Certificate, answer: (response: ServerResponse, request: ReceivedRequest) => void): Promise<Receiver> {
  const received: ReceivedRequest[] = [];
  let connections = 0;
  const server = createServer({ key, cert }, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const request = { method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers, body: Buffer.concat(chunks).toString("utf8") };
      received.push(request);
      answer(response, request);
    });
  });
  server.on("connection", () => connections++);
  // Clients that refuse our certificate or hang up are part of the tests.
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}`,
    port,
    received,
    connections: () => connections,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { makeConnector } from "./connect.ts";
import { resolvePublic, systemResolve, type Resolve } from "./resolve-public.ts";
import type { OutboundRules } from "./rules.ts";

interface TcpQuestion extends OutboundRules {
  host: string;
  port: number;
  /** Sent as it is. */
  text: string;
  /** What is answered beyond is left unread. */
  limitBytes: number;
  /** Ends the attempt; the promise then rejects with its reason. */
  signal: AbortSignal;
  resolve?: Resolve;
}

/** Not used: the connection is a plain one. */
const NO_TLS = createSecureContext({});

/** Sends a text to a public address over TCP and gives what is answered until the other side closes. Rejects as connecting does, and with ECONNRESET for an answer that was cut off. */
export async function askOverTcp({ host, port, text, limitBytes, signal, resolve = systemResolve, ...rules }: TcpQuestion): Promise<Buffer> {
  signal.throwIfAborted();
  const socket = await connectTo({ host, port, addresses: await resolvePublic(host, port, { resolve, ...rules }), allow: rules.allow, signal });
  try {
    socket.write(text);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limitBytes) break;
    }
    signal.throwIfAborted();
    return Buffer.concat(chunks).subarray(0, limitBytes);
  } finally {
    socket.destroy();
  }
}

function connectTo({ host, port, addresses, allow, signal }: Pick<TcpQuestion, "host" | "port" | "allow" | "signal"> & { addresses: Awaited<ReturnType<typeof resolvePublic>> }): Promise<Socket> {
  const connect = makeConnector({ host, addresses, allow, secureContext: NO_TLS, signal });
  return new Promise((done, failed) => {
    connect({ hostname: host, host, protocol: "http:", port: String(port) }, (error, socket) => (error ? failed(error) : done(socket)));
  });
}

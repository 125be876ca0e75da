import { once } from "node:events";
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** Stands between a client and a server on loopback and does to their bytes what a bad network does. */
export interface FaultProxy {
  port: number;
  /** Connections that are open now. */
  connections(): number;
  /** Ends every fault: what waited goes on, new connections are taken. Resolves when the port is open. */
  pass(): Promise<void>;
  /** From now on each piece of bytes is held this long, one after the other. */
  delay(ms: number): void;
  /** From now on each connection carries at most this much in each direction. */
  throttle(bytesPerSecond: number): void;
  /** Connections end in good order, new ones are refused. */
  cut(): Promise<void>;
  /** Connections break by a reset (RST); new ones are taken. */
  reset(): void;
  /** Nothing moves any more in either direction and nobody is told, as when a cable is pulled. What is sent arrives after `pass`. */
  halfOpen(): void;
  /** New connections go there. */
  retarget(target: NetConnectOpts): void;
  stop(): Promise<void>;
}

/** Throttled bytes go on in so many slices a second. */
const SLICES_PER_SECOND = 20;

interface Faults {
  delayMs: number;
  bytesPerSecond: number;
  /** Resolves when bytes may move. */
  open: Promise<void>;
  release(): void;
}

export async function startFaultProxy(first: NetConnectOpts): Promise<FaultProxy> {
  let target = first;
  const sockets = new Set<Socket>();
  const faults: Faults = { delayMs: 0, bytesPerSecond: Infinity, open: Promise.resolve(), release: () => undefined };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ ...target, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    void Promise.all([carry(client, upstream, faults), carry(upstream, client, faults)]).catch(() => {
      client.destroy();
      upstream.destroy();
    });
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    await new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    connections: () => sockets.size / 2,
    async pass() {
      Object.assign(faults, { delayMs: 0, bytesPerSecond: Infinity });
      faults.release();
      if (!server.listening) await listen(port);
    },
    delay: (ms) => void (faults.delayMs = ms),
    throttle: (bytesPerSecond) => void (faults.bytesPerSecond = bytesPerSecond),
    cut: close,
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    halfOpen() {
      faults.release();
      faults.open = new Promise((resolve) => (faults.release = resolve));
    },
    retarget: (to) => void (target = to),
    async stop() {
      faults.release();
      await close();
    },
  };
}

/** Rejects when either end breaks. */
async function carry(from: Socket, to: Socket, faults: Faults): Promise<void> {
  // An iterator would otherwise destroy both ways of a socket when one has ended.
  for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    await faults.open;
    if (faults.delayMs > 0) await wait(faults.delayMs);
    for (const slice of slices(chunk, faults.bytesPerSecond)) {
      if (faults.bytesPerSecond < Infinity) await wait((slice.byteLength / faults.bytesPerSecond) * 1_000);
      if (!to.write(slice)) await once(to, "drain");
    }
  }
  await faults.open;
  to.end();
}

function slices(chunk: Buffer, bytesPerSecond: number): Buffer[] {
  const size = Math.max(1, Math.min(chunk.byteLength, Math.floor(bytesPerSecond / SLICES_PER_SECOND)));
  return Array.from({ length: Math.ceil(chunk.byteLength / size) }, (_, number) => chunk.subarray(number * size, (number + 1) * size));
}

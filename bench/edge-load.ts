import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Load {
  port: number;
  /** Kept open, each with one request on its way: the server under test takes no second one before it has answered. */
  connections: number;
  /** Whole HTTP requests, sent round and round; each event id in them is a new one each time. */
  requests: Buffer[];
  ms: number;
  /** At most so many requests a second over all connections; as many as are answered unless given. */
  perSecond?: number;
  /** Changes more of a request than its ids, before each time that it is sent. */
  change?(request: Buffer, at: number): void;
  /** Called with each 2xx, for those who look while it runs. */
  onTaken?(): void;
}

/** Loads a server on raw sockets, so that the driver costs less than what it measures. Gives the answers with a 2xx and the others. */
export async function load({ port, connections, requests, ms, perSecond = Infinity, change, onTaken }: Load): Promise<{ taken: number; refused: number; seconds: number }> {
  let at = 0;
  let taken = 0;
  let refused = 0;
  let over = false;
  /** With a rate: connections that wait for their turn. */
  let idle: Socket[] = [];
  const ids = requests.map(eventIdsIn);
  const next = (): Buffer => {
    at = (at + 1) % requests.length;
    const request = requests[at]!;
    // What was sent of these bytes before is long gone: there are far more requests than connections.
    for (const place of ids[at]!) writeRandomId(request, place);
    change?.(request, at);
    return request;
  };

  async function open(): Promise<Socket> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    // One that the server cut off has no answer; it closes, and sends no more.
    socket.on("error", () => (refused += 1));
    socket.on("data", (chunk: Buffer) => {
      // Answers are small and come in one piece: "HTTP/1.1 2…".
      if (chunk[9] === 0x32) {
        taken += 1;
        onTaken?.();
      } else refused += 1;
      if (over) socket.end();
      else if (perSecond === Infinity) socket.write(next());
      else idle.push(socket);
    });
    return socket;
  }

  const sockets = await Promise.all(Array.from({ length: connections }, open));
  const started = performance.now();
  const closed = sockets.map((socket) => once(socket, "close"));
  if (perSecond === Infinity) for (const socket of sockets) socket.write(next());
  else idle = [...sockets];
  let sent = 0;
  const pacing = setInterval(() => {
    for (const due = ((performance.now() - started) / 1_000) * perSecond; sent < due && idle.length > 0; sent++) idle.pop()!.write(next());
  }, 5);
  if (perSecond === Infinity) clearInterval(pacing);
  await new Promise((resolve) => setTimeout(resolve, ms));
  clearInterval(pacing);
  over = true;
  for (const socket of idle) socket.end();
  await Promise.all(closed);
  return { taken, refused, seconds: (performance.now() - started) / 1_000 };
}

export function httpRequest(path: string, headers: Record<string, string>, body: string): Buffer {
  const lines = Object.entries({ Host: "127.0.0.1", ...headers, "Content-Length": String(Buffer.byteLength(body)) }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

const ID_FIELD = Buffer.from('"event_id":"');

/** Where the event ids of a request begin. */
function eventIdsIn(request: Buffer): number[] {
  const places: number[] = [];
  for (let found = request.indexOf(ID_FIELD); found !== -1; found = request.indexOf(ID_FIELD, found + 1)) places.push(found + ID_FIELD.length);
  return places;
}

/** The two hexadecimal digits of each byte, and where the bytes of a UUID stand in its text. */
const DIGITS = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0")).join(""));
const BYTES_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;

/** Overwrites a UUID's digits with those of a random one (version 4), for some 60 ns. */
function writeRandomId(into: Buffer, place: number): void {
  let word = 0;
  for (let byte = 0; byte < 16; byte++) {
    if (byte % 4 === 0) word = Math.trunc(Math.random() * 2 ** 32);
    let value = (word >>> (8 * (byte % 4))) & 0xff;
    if (byte === 6) value = 0x40 | (value & 0x0f);
    if (byte === 8) value = 0x80 | (value & 0x3f);
    const at = place + BYTES_AT[byte]!;
    into[at] = DIGITS[2 * value]!;
    into[at + 1] = DIGITS[2 * value + 1]!;
  }
}

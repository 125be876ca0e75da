import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Compression } from "./compression.ts";
import { decodeProduce, encodeProduce } from "./produce-request.ts";
import { ProduceFault, faultOfCode } from "./produce-errors.ts";
import { logIn, text, type AskBroker } from "./sasl.ts";
import type { KafkaSecurity } from "./security.ts";

/** The one connection over which a process sends records to a broker. */
export interface BrokerLink {
  /** Resolves once the broker has the records, all or none, as `acks` says; rejects with ProduceFault, which leaves open whether it has them. */
  send(topic: string, partition: number, acks: -1 | 1, values: readonly Uint8Array[]): Promise<void>;
  close(): void;
}

export interface BrokerLinkNeeds {
  host: string;
  port: number;
  clientId: string;
  /** How long the leader may wait for its followers. */
  ackMs: number;
  compression: Compression;
  security: KafkaSecurity;
}

/** Of one partition in one request, before they are compressed; more that was given at once goes alone. Kafka's own limit for a batch is 1 MB unless set. */
export const PARTITION_BYTES = 900 * 1024;
const CONNECT_MS = 3_000;
/** An answer that takes longer than the followers may take, and this, will not come. */
const ANSWER_GRACE_MS = 1_000;

interface Waiting {
  topic: string;
  partition: number;
  values: readonly Uint8Array[];
  resolve(): void;
  reject(fault: ProduceFault): void;
}

/** One kind of acknowledgement has one request on its way; what comes meanwhile waits and leaves together in the next. */
interface Queue {
  acks: -1 | 1;
  waiting: Waiting[];
  inFlight: Waiting[];
  scheduled: boolean;
}

interface Connection {
  socket: Socket;
  /** Settles when it is connected or lost. */
  ready: Promise<void>;
  answers: Map<number, (answer: Buffer) => void>;
  /** Monotonic ms from which on another connection takes its place, because the broker ends it when its login does. */
  replacedFrom: number;
}

/** A connection is used for this part of the time that its login holds. */
const LOGIN_SHARE = 0.8;

/** A lost connection is made anew by the next record. */
export function makeBrokerLink({ host, port, clientId, ackMs, compression, security }: BrokerLinkNeeds): BrokerLink {
  const queues: Queue[] = [-1, 1].map((acks) => ({ acks: acks as -1 | 1, waiting: [], inFlight: [], scheduled: false }));
  let connection: Connection | null = null;
  let correlationId = 0;
  let closed = false;

  function send(topic: string, partition: number, acks: -1 | 1, values: readonly Uint8Array[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (closed) return reject(new ProduceFault("the connection is closed", false));
      const queue = queues[acks === -1 ? 0 : 1]!;
      queue.waiting.push({ topic, partition, values, resolve, reject });
      schedule(queue);
    });
  }

  function schedule(queue: Queue): void {
    if (queue.scheduled || queue.inFlight.length > 0 || queue.waiting.length === 0) return;
    queue.scheduled = true;
    // Records of several partitions that become due together leave together.
    setImmediate(() => {
      queue.scheduled = false;
      queue.inFlight = takeRequest(queue);
      if (queue.inFlight.length > 0) void exchange(queue);
    });
  }

  async function exchange(queue: Queue): Promise<void> {
    const sent = queue.inFlight;
    try {
      const codes = await request(queue.acks, sent);
      for (const waiting of sent) {
        const code = codes.get(placeOf(waiting));
        if (code === 0) waiting.resolve();
        else waiting.reject(code === undefined ? new ProduceFault("the answer does not speak of the record", true) : faultOfCode(code));
      }
    } catch (error) {
      const fault = error instanceof ProduceFault ? error : new ProduceFault(error instanceof Error ? error.message : String(error), true);
      for (const waiting of sent) waiting.reject(fault);
    }
    queue.inFlight = [];
    schedule(queue);
  }

  async function request(acks: -1 | 1, records: Waiting[]): Promise<Map<string, number>> {
    if (connection !== null && performance.now() >= connection.replacedFrom) retire(connection);
    const mine = (connection ??= open());
    await mine.ready;
    const id = nextId();
    const answer = await exchangeBytes(mine, id, encodeProduce({ correlationId: id, clientId, acks, ackMs, compression }, byPlace(records)));
    return new Map(decodeProduce(answer).map((result) => [placeOf(result), result.code]));
  }

  function nextId(): number {
    correlationId = (correlationId + 1) & 0x7fff_ffff;
    return correlationId;
  }

  /** What it still waits for is answered; then it ends. */
  function retire(old: Connection): void {
    connection = null;
    old.replacedFrom = -Infinity;
    // Whoever has just been given it sends first.
    setImmediate(() => endRetired(old));
  }

  function endRetired({ replacedFrom, answers, socket }: Connection): void {
    if (replacedFrom === -Infinity && answers.size === 0) socket.end();
  }

  /** Sends a request; resolves with the bytes of its answer. */
  function exchangeBytes(mine: Connection, id: number, parts: readonly Uint8Array[]): Promise<Buffer> {
    return new Promise<Buffer>((resolve, reject) => {
      const lost = (): void => {
        clearTimeout(timer);
        reject(new ProduceFault(`the connection to ${host}:${port} was lost`, true));
      };
      // An answer that comes later than this could be to anything; a new connection knows of no old requests.
      const timer = setTimeout(() => mine.socket.destroy(), ackMs + ANSWER_GRACE_MS);
      if (mine.socket.destroyed) return lost();
      mine.socket.once("close", lost);
      mine.answers.set(id, (bytes) => {
        clearTimeout(timer);
        mine.socket.off("close", lost);
        mine.answers.delete(id);
        endRetired(mine);
        resolve(bytes);
      });
      mine.socket.cork();
      for (const part of parts) mine.socket.write(part);
      mine.socket.uncork();
    });
  }

  function connectSocket(): { socket: Socket; connected: "connect" | "secureConnect" } {
    if (security.tls === null) return { socket: connect({ host, port, noDelay: true, keepAlive: true }), connected: "connect" };
    const socket = connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...security.tls });
    return { socket: socket.setNoDelay(true).setKeepAlive(true), connected: "secureConnect" };
  }

  /** Logs in on a connection that has just been made; gives how long that holds, in ms. */
  async function logInOn(mine: Connection): Promise<number> {
    if (security.login === null) return Infinity;
    const ask: AskBroker = async (apiKey, version, body) => {
      const id = nextId();
      const head = Buffer.alloc(12);
      const name = text(clientId);
      head.writeInt32BE(8 + name.length + body.length, 0);
      head.writeInt16BE(apiKey, 4);
      head.writeInt16BE(version, 6);
      head.writeInt32BE(id, 8);
      return exchangeBytes(mine, id, [head, name, body]);
    };
    return (await logIn(ask, security.login)) || Infinity;
  }

  function open(): Connection {
    const { socket, connected } = connectSocket();
    const answers: Connection["answers"] = new Map();
    let buffered: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      buffered = buffered.byteLength === 0 ? chunk : Buffer.concat([buffered, chunk]);
      while (buffered.byteLength >= 4 && buffered.byteLength >= 4 + buffered.readInt32BE(0)) {
        const end = 4 + buffered.readInt32BE(0);
        answers.get(buffered.readInt32BE(4))?.(buffered.subarray(8, end));
        buffered = buffered.subarray(end);
      }
    });
    const made: Connection = { socket, ready: Promise.resolve(), answers, replacedFrom: Infinity };
    made.ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => socket.destroy(new Error(`${host}:${port} did not take the connection within ${CONNECT_MS / 1_000} s`)), CONNECT_MS);
      let reason = `the connection to ${host}:${port} was lost`;
      socket.once(connected, () => {
        logInOn(made).then(
          (holdsMs) => {
            clearTimeout(timer);
            made.replacedFrom = performance.now() + LOGIN_SHARE * holdsMs;
            return resolve();
          },
          (error: Error) => socket.destroy(error),
        );
      });
      socket.once("error", (error) => (reason = error.message));
      socket.once("close", () => {
        clearTimeout(timer);
        if (connection?.socket === socket) connection = null;
        reject(new ProduceFault(reason, true));
      });
    });
    return made;
  }

  return {
    send,
    close() {
      closed = true;
      connection?.socket.destroy();
    },
  };
}

function placeOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`;
}

/** The next request's records: of each partition the first ones, as many as fit into one batch. */
function takeRequest(queue: Queue): Waiting[] {
  const taken: Waiting[] = [];
  const left: Waiting[] = [];
  const bytes = new Map<string, number>();
  for (const waiting of queue.waiting) {
    const place = placeOf(waiting);
    const before = bytes.get(place) ?? 0;
    const after = waiting.values.reduce((sum, value) => sum + value.byteLength, before);
    const fits = before === 0 || after <= PARTITION_BYTES;
    // Once one did not fit, none after it may overtake it.
    bytes.set(place, fits ? Math.max(after, 1) : Infinity);
    (fits ? taken : left).push(waiting);
  }
  queue.waiting = left;
  return taken;
}

function byPlace(records: readonly Waiting[]): Map<string, Map<number, Uint8Array[]>> {
  const topics = new Map<string, Map<number, Uint8Array[]>>();
  for (const { topic, partition, values } of records) {
    let partitions = topics.get(topic);
    if (!partitions) topics.set(topic, (partitions = new Map()));
    const before = partitions.get(partition);
    if (before) before.push(...values);
    else partitions.set(partition, [...values]);
  }
  return topics;
}

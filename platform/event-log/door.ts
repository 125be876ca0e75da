import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { TOPICS } from "../../schemas/vocabulary.ts";
import type { Log } from "../log.ts";
import { LogUnavailable, type EventLog, type LogRecord } from "./port.ts";

/** What a command line does with a log: reads it as no member of a group, and appends. */
export type PlainLog = Pick<EventLog, "id" | "partitions" | "append" | "scan">;

/** In the log's folder: where the process that holds the embedded log answers, and the secret to say. Hence 0600. */
const FILE = "address";
const Address = z.object({ url: z.string(), secret: z.string() });
const About = z.object({ id: z.string(), partitions: z.record(z.string(), z.number().int()) });

/** On the wire before each record of a scan: partition (4 bytes), offset (8), length (4), little-endian. */
const HEAD_BYTES = 16;
/** In place of a partition: the scan is complete. Without it a cut connection would look like the end. */
const COMPLETE = 0xffff_ffff;
const RECORD_BYTES = 16 * 1024 * 1024;

/** Lets the command line, another process, at the embedded log: one process may have the file open. Loopback only, with a secret of this start. */
export async function openLogDoor({ eventLog, folder, log }: { eventLog: EventLog; folder: string; log: Log }): Promise<{ close(): Promise<void> }> {
  const secret = randomBytes(32).toString("hex");
  const server = createServer((request, response) => {
    answer(eventLog, secret, request, response).catch((error: unknown) => {
      log.debug({ err: error }, "a request of the command line to the event log failed");
      if (response.headersSent) response.destroy();
      else response.writeHead(error instanceof LogUnavailable ? 503 : 400).end(error instanceof Error ? error.message : String(error));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const path = join(folder, FILE);
  await writeFile(`${path}.new`, JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret }), { mode: 0o600 });
  await rename(`${path}.new`, path);
  return {
    async close() {
      await rm(path, { force: true });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(eventLog: EventLog, secret: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${secret}`);
  if (given.byteLength !== wanted.byteLength || !timingSafeEqual(given, wanted)) return void response.writeHead(401).end();
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === "/about") return void response.end(JSON.stringify({ id: eventLog.id, partitions: Object.fromEntries(TOPICS.map((topic) => [topic, eventLog.partitions(topic)])) }));
  const topic = z.enum(TOPICS).parse(searchParams.get("topic"));
  if (pathname === "/scan") {
    await eventLog.scan(topic, async (partition, record) => {
      if (response.destroyed) throw new Error("the command line has gone");
      if (!response.write(onWire(partition, record))) await Promise.race([once(response, "drain"), once(response, "close")]);
    });
    const end = Buffer.alloc(HEAD_BYTES);
    end.writeUInt32LE(COMPLETE, 0);
    response.end(end);
  } else if (pathname === "/append") {
    await eventLog.append(topic, z.coerce.number().int().parse(searchParams.get("partition")), await bodyOf(request));
    response.writeHead(204).end();
  } else response.writeHead(404).end();
}

function onWire(partition: number, { offset, value }: LogRecord): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(partition, 0);
  head.writeBigUInt64LE(offset, 4);
  head.writeUInt32LE(value.byteLength, 12);
  return Buffer.concat([head, value]);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > RECORD_BYTES) throw new Error("the record is too large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The embedded log in `folder` through the process that holds it; null when none says that it does. Its calls reject with LogUnavailable. */
export async function openLogByDoor(folder: string): Promise<PlainLog | null> {
  const text = await readFile(join(folder, FILE), "utf8").catch(() => null);
  if (text === null) return null;
  const { url, secret } = Address.parse(JSON.parse(text));

  async function ask(path: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const response = await fetch(url + path, { method: body ? "POST" : "GET", headers: { Authorization: `Bearer ${secret}` }, ...(body && { body }) }).catch((error: unknown) => {
      throw new LogUnavailable(`the Pharos that holds ${folder} does not answer`, error);
    });
    if (!response.ok) throw new LogUnavailable(`the Pharos that holds ${folder} answers ${response.status}: ${await response.text()}`);
    return response;
  }

  const about = About.parse(await (await ask("/about")).json());
  return {
    id: about.id,
    partitions: (topic) => about.partitions[topic]!,
    async append(topic, partition, record) {
      await ask(`/append?topic=${topic}&partition=${partition}`, Uint8Array.from(record));
    },
    async scan(topic, onRecord) {
      let rest: Buffer = Buffer.alloc(0);
      for await (const part of (await ask(`/scan?topic=${topic}`)).body as unknown as AsyncIterable<Uint8Array>) {
        rest = Buffer.concat([rest, part]);
        for (let length; rest.byteLength >= HEAD_BYTES && rest.byteLength >= (length = HEAD_BYTES + rest.readUInt32LE(12)); rest = rest.subarray(length)) {
          const partition = rest.readUInt32LE(0);
          if (partition === COMPLETE) return;
          await onRecord(partition, { offset: rest.readBigUInt64LE(4), value: Buffer.from(rest.subarray(HEAD_BYTES, length)) });
        }
      }
      throw new LogUnavailable("the connection to the Pharos that holds it was cut");
    },
  };
}

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PROJECT_ROOT } from "../platform/root.ts";
import { readBeacon, type Beacon, type BeaconEvent } from "../schemas/messages/beacon.ts";

/** What the receiver says to a beacon; `null` never answers. */
export type BeaconAnswer = { status: number; headers?: Record<string, string>; body?: string } | null;

/** Takes beacons in place of the service, where a test wants to choose the answers, and gives out the SDK as the service does. */
export interface BeaconReceiver {
  url: string;
  /** Each body that came, as the edge reads it. */
  beacons: Beacon[];
  /** What the edge would have refused of them. */
  rejected: string[];
  /** Of all bodies, in the order they came; a retry is there twice. */
  events(): BeaconEvent[];
  /** By the number of the body, from 0. */
  answer(how: (number: number) => BeaconAnswer): void;
  stop(): Promise<void>;
}

const OPEN = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After" };

export async function startBeaconReceiver(): Promise<BeaconReceiver> {
  const beacons: Beacon[] = [];
  const rejected: string[] = [];
  let answer: ((number: number) => BeaconAnswer) | null = null;
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      readFile(join(PROJECT_ROOT, "clients/browser/bundle", request.url!.replace("/sdk/", ""))).then(
        (body) => response.writeHead(200, { ...OPEN, "Content-Type": "text/javascript" }).end(body),
        () => response.writeHead(404).end(),
      );
      return;
    }
    void receive(request, response);
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const reading = readBeacon(JSON.parse(text));
    if (reading.kind === "invalid") throw new Error(`The SDK sent what the edge would not take: ${text}`);
    const answered = answer ? answer(beacons.length) : { status: 202, body: JSON.stringify({ success: true, accepted: reading.events.length, rejected: reading.rejected }) };
    beacons.push(reading.beacon);
    rejected.push(...reading.rejected.map(({ path }) => path));
    if (answered) response.writeHead(answered.status, { ...OPEN, ...answered.headers }).end(answered.body);
  }

  const url = await listen(server);
  return {
    url,
    beacons,
    rejected,
    events: () => beacons.flatMap(({ events }) => events as BeaconEvent[]),
    answer: (how) => void (answer = how),
    stop: () => stop(server),
  };
}

/** A site whose pages a test writes. */
export interface TestSite {
  url: string;
  put(path: string, body: string, headers?: Record<string, string>): void;
  stop(): Promise<void>;
}

export async function startTestSite(): Promise<TestSite> {
  const files = new Map<string, { body: string; headers: Record<string, string> }>();
  const server = createServer((request, response) => {
    const path = new URL(request.url!, "http://x").pathname;
    const file = files.get(path);
    const type = path.endsWith("js") ? "text/javascript" : "text/html";
    if (file) response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store", ...file.headers }).end(file.body);
    else response.writeHead(404).end();
  });
  return {
    url: await listen(server),
    put: (path, body, headers = {}) => void files.set(path, { body, headers }),
    stop: () => stop(server),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

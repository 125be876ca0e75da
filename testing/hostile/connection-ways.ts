import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, HostileTenant } from "./hostile-tenant.ts";
import { waysOf } from "./way.ts";

const HELD_MS = 2_000;

/** Opens connections, has each written to by `write` again and again for two seconds, and closes them. */
async function hold(address: string, count: number, write: (socket: Socket, turn: number) => void): Promise<Answer> {
  const { hostname, port } = new URL(address);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname).on("error", () => undefined));
  // Time passes here on purpose: what is tried is to hold connections for it.
  for (let turn = 0; turn < HELD_MS / 100; turn++) {
    for (const socket of sockets) if (socket.writable) write(socket, turn);
    await pause(100);
  }
  for (const socket of sockets) socket.destroy();
  return { status: 0, body: "held" };
}

/** Sends these bytes and reads what comes until the other side ends, or for two seconds. */
async function raw(address: string, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  const ended = new Promise<void>((resolve) => socket.on("close", () => resolve()).on("error", () => resolve()));
  socket.write(bytes);
  await Promise.race([ended, pause(HELD_MS)]);
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), body: text.slice(0, 500) };
}

const slowly = (text: string) => (socket: Socket, turn: number) => void socket.write(text[turn % text.length]!);
const both = async (tenant: HostileTenant, ask: (address: string) => Promise<Answer>) => [await ask(tenant.base), await ask(tenant.edge)];

export const CONNECTION_WAYS = waysOf("slow and broken clients", "free", [
  ["three hundred connections that send a byte of a header at a time", /^0 held/, (tenant) => both(tenant, (address) => hold(address, 300, slowly("GET /pages/demo HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaa")))],
  ["three hundred connections that say nothing", /^0 held/, (tenant) => both(tenant, (address) => hold(address, 300, () => undefined))],
  ["a hundred bodies that never end", /^0 held/, (tenant) => both(tenant, (address) => hold(address, 100, (socket, turn) => void socket.write(turn === 0 ? "POST /api/beacon HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{" : " ")))],
  ["fifty readers that do not read an export", /^0 held/, (tenant) => hold(tenant.base, 50, (socket, turn) => {
    if (turn === 0) socket.pause().write(`GET /api/v1/errors/export?format=csv HTTP/1.1\r\nHost: x\r\nX-API-Key: ${tenant.api_key}\r\n\r\n`);
  })],
  ["a thousand requests in one packet", /^(200|404|429) /, ({ base }) => raw(base, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000))],
  ["headers of a hundred kilobytes", /^(431|400|0) /, (tenant) => both(tenant, (address) => raw(address, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(100_000)}\r\n\r\n`))],
  ["two lengths of one body", /^(400|401|0) /, (tenant) => both(tenant, (address) => raw(address, "POST /api/beacon HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"))],
  ["a length and chunks", /^(400|0) /, ({ base }) => raw(base, "POST /api/v1/services HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")],
  ["no HTTP at all", /^(400|505|0) /, (tenant) => both(tenant, (address) => raw(address, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(100)))],
]);

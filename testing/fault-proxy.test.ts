import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";

let echo: Server;
let proxy: FaultProxy;
const clients: Socket[] = [];
beforeEach(async () => {
  // An allowed half-open end: what the client ends, the server ends after its last answer.
  echo = createServer((socket) => socket.on("error", () => undefined).pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  proxy = await startFaultProxy({ host: "127.0.0.1", port: (echo.address() as AddressInfo).port });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.stop();
  await new Promise((resolve) => echo.close(resolve));
});

interface Client {
  socket: Socket;
  text(): string;
  /** How it ended: an error's code, or "closed". */
  ended: Promise<string>;
}

async function open(): Promise<Client> {
  const socket = connect(proxy.port, "127.0.0.1");
  clients.push(socket);
  let text = "";
  let code = "closed";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", (error: NodeJS.ErrnoException) => (code = error.code ?? ""));
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(code)));
  await Promise.race([once(socket, "connect").catch(() => undefined), ended]);
  return { socket, text: () => text, ended };
}

const answered = (client: Client, text: string) => vi.waitFor(() => expect(client.text()).toBe(text));

test("bytes and ends pass both ways", async () => {
  const client = await open();
  client.socket.end("x".repeat(300_000));
  expect(await client.ended).toBe("closed");
  expect(client.text()).toHaveLength(300_000);
  await vi.waitFor(() => expect(proxy.connections()).toBe(0));
});

test("a delay holds each way's bytes", async () => {
  const client = await open();
  proxy.delay(60);
  const began = performance.now();
  client.socket.write("a");
  await answered(client, "a");
  // Timers may fire a millisecond early.
  expect(performance.now() - began).toBeGreaterThan(2 * 59);
});

test("a throttled connection carries no more than it may", async () => {
  const client = await open();
  proxy.throttle(20_000);
  const began = performance.now();
  client.socket.write("x".repeat(4_000));
  await vi.waitFor(() => expect(client.text()).toHaveLength(4_000));
  expect(performance.now() - began).toBeGreaterThan(190);
});

test("cut: connections end, new ones are refused, and come through again afterwards", async () => {
  const before = await open();
  await proxy.cut();
  expect(await before.ended).toBe("closed");
  expect(await (await open()).ended).toBe("ECONNREFUSED");
  await proxy.pass();
  const after = await open();
  after.socket.write("b");
  await answered(after, "b");
});

test("reset: a connection breaks, a new one does not", async () => {
  const before = await open();
  before.socket.write("a");
  await answered(before, "a");
  proxy.reset();
  expect(await before.ended).toBe("ECONNRESET");
  const after = await open();
  after.socket.write("b");
  await answered(after, "b");
});

test("half open: neither bytes nor an end arrive until it passes, then all does in its order", async () => {
  const client = await open();
  const other = await open();
  client.socket.write("a");
  other.socket.write("a");
  await Promise.all([answered(client, "a"), answered(other, "a")]);
  proxy.halfOpen();
  client.socket.write("b");
  client.socket.end("c");
  other.socket.write("b");
  const first = await Promise.race([client.ended, new Promise((resolve) => setTimeout(resolve, 150, "silence"))]);
  expect([first, client.text(), other.text()]).toEqual(["silence", "a", "a"]);
  await proxy.pass();
  expect(await client.ended).toBe("closed");
  expect(client.text()).toBe("abc");
  await answered(other, "ab");
});

test("new connections go to another server when it is told so", async () => {
  const other = createServer((socket) => socket.end("the other")).listen(0, "127.0.0.1");
  await once(other, "listening");
  proxy.retarget({ host: "127.0.0.1", port: (other.address() as AddressInfo).port });
  const client = await open();
  expect(await client.ended).toBe("closed");
  expect(client.text()).toBe("the other");
  await new Promise((resolve) => other.close(resolve));
});

import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const CONNECTIONS: Record<Form, number> = { short: 2_000, long: 2_000 };
const LAST_MS: Record<Form, number> = { short: 6_000, long: 120_000 };
const MOST_TIMES = 2;
/** Below this a doubled p99 is the noise of timers. */
const NOISE_MS = 10;
const OPENED_AT_ONCE = 100;

/** Fault g: thousands of connections that send a byte a second; those that behave are answered as fast as before. */
export function slowConnections(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "g: slow connections", eventsPerSecond: 1_000, recoverMs: 60_000 }, async ({ load, want }) => {
    load.lap();
    await wait(LAST_MS[form]);
    const before = load.lap().p99;
    const ports = stage.of("edge").map(({ port }) => port);
    const slow: Socket[] = [];
    for (let opened = 0; opened < CONNECTIONS[form]; opened += OPENED_AT_ONCE) {
      slow.push(...(await Promise.all(Array.from({ length: OPENED_AT_ONCE }, (_, number) => openSlow(ports[number % ports.length]!)))));
    }
    const dripping = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write("x");
    }, 1_000);
    load.lap();
    await wait(LAST_MS[form]);
    const { p99, refused } = load.lap();
    clearInterval(dripping);
    const open = slow.filter((socket) => !socket.destroyed).length;
    for (const socket of slow) socket.destroy();
    want(p99 <= Math.max(MOST_TIMES * before, NOISE_MS), `p99 ${p99.toFixed(0)} ms beside ${before.toFixed(0)} ms without them`);
    want(refused === 0, `${refused} requests were refused`);
    return `${CONNECTIONS[form]} for ${LAST_MS[form] / 1_000} s (${open} of them not closed by then), p99 ${before.toFixed(0)} → ${p99.toFixed(0)} ms`;
  });
}

/** Announces a body and sends hardly any of it. */
function openSlow(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", reject);
    socket.once("connect", () => {
      // The edge may close it: that is its right.
      socket.off("error", reject).on("error", () => undefined);
      socket.resume();
      socket.write("POST /api/beacon HTTP/1.1\r\nHost: slow\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n");
      resolve(socket);
    });
  });
}

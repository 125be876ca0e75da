import { App, us_socket_local_port, type HttpResponse } from "uWebSockets.js";

/**
 * The reference of bench/edge.ts: uWebSockets.js that reads a body to its end and answers the bytes
 * in ANSWER. With ANSWER_AFTER_MS it answers all that came in that time together, as an edge does
 * that waits for a log: what this costs more is the price of waiting, and no edge can save it.
 * Prints its port.
 */
const answer = process.env.ANSWER ?? "{}";
const afterMs = Number(process.env.ANSWER_AFTER_MS ?? 0);

interface Waiting {
  response: HttpResponse;
  gone: boolean;
}

let waiting: Waiting[] = [];

function takeIn(response: HttpResponse): void {
  const request: Waiting = { response, gone: false };
  response.onAborted(() => (request.gone = true));
  response.onData((_chunk, isLast) => {
    if (!isLast) return;
    if (afterMs === 0) return reply(request);
    if (waiting.push(request) === 1) setTimeout(replyAll, afterMs);
  });
}

function replyAll(): void {
  const due = waiting;
  waiting = [];
  for (const request of due) reply(request);
}

function reply({ response, gone }: Waiting): void {
  if (gone) return;
  response.cork(() => {
    response.writeStatus("202 Accepted");
    response.writeHeader("Content-Type", "application/json; charset=utf-8");
    response.end(answer);
  });
}

App()
  .post("/*", takeIn)
  .listen("127.0.0.1", 0, (socket) => {
    if (!socket) throw new Error("no port to listen on");
    console.log(`port ${us_socket_local_port(socket)}`);
  });

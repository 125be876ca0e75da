import { App, us_socket_local_port, type HttpResponse } from "uWebSockets.js";

/** The reference of bench/edge.ts: uWebSockets.js that reads a body to its end and answers the bytes in ANSWER. Prints its port. */
const answer = process.env.ANSWER ?? "{}";

function takeIn(response: HttpResponse): void {
  response.onAborted(() => undefined);
  response.onData((_chunk, isLast) => {
    if (!isLast) return;
    response.cork(() => {
      response.writeStatus("202 Accepted");
      response.writeHeader("Content-Type", "application/json; charset=utf-8");
      response.end(answer);
    });
  });
}

App()
  .post("/*", takeIn)
  .listen("127.0.0.1", 0, (socket) => {
    if (!socket) throw new Error("no port to listen on");
    console.log(`port ${us_socket_local_port(socket)}`);
  });

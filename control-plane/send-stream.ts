import { Socket } from "node:net";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../platform/log.ts";
import { failureOf } from "./failure-reply.ts";

/**
 * Sends text as it comes, no faster than the client takes it. An error on the way is logged and resets the connection: a mere end would look like
 * the answer's own to whoever speaks HTTP/1.0, such as a proxy.
 */
export function sendStream(chunks: AsyncIterable<string>, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  async function* watched(): AsyncIterable<string> {
    try {
      yield* chunks;
    } catch (error) {
      const about = { requestId: request.id, method: request.method, path: request.url.split("?")[0], err: error };
      if (failureOf(error).code === "INTERNAL") log.error(about, "an answer was cut off");
      else log.warn(about, "an answer was cut off");
      const { socket } = reply.raw;
      if (socket instanceof Socket) socket.resetAndDestroy();
      throw error;
    }
  }
  return reply.send(Readable.from(watched()));
}

import { readFileSync } from "node:fs";
import fastify from "fastify";

/** The reference: Fastify that answers the same bytes and does nothing else. Takes a JSON file `{path: body}`; prints its address. */
const bodies = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Record<string, string>;
const app = fastify({ logger: false });
for (const [path, body] of Object.entries(bodies)) {
  app.get(path, async (_request, reply) => reply.header("Content-Type", "application/json; charset=utf-8").send(body));
}
app.post("/api/v1/incidents", async (_request, reply) => reply.code(201).header("Content-Type", "application/json; charset=utf-8").send("{}"));
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));

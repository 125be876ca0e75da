import { readFileSync } from "node:fs";
import fastify from "fastify";

/** An answer as it was heard from Pharos. */
export interface SameAnswer {
  headers: Record<string, string>;
  /** base64. */
  body: string;
}

/** The reference: Fastify that answers the same bytes and does nothing else. Takes a JSON file `{path: SameAnswer}`; prints its address. */
const answers = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Record<string, SameAnswer>;
const app = fastify({ logger: false });
for (const [path, { headers, body }] of Object.entries(answers)) {
  const bytes = Buffer.from(body, "base64");
  app.get(path, async (_request, reply) => reply.headers(headers).send(bytes));
}
app.post("/api/v1/incidents", async (_request, reply) => reply.code(201).header("Content-Type", "application/json; charset=utf-8").send("{}"));
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));

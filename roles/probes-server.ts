import { createServer } from "node:http";
import { makeClientAddress, vouchedAddress } from "../platform/client-address.ts";
import { StartFailure } from "../platform/start-failure.ts";
import type { House } from "./house.ts";

/** A process without doors still answers `/livez`, `/readyz` and `/metrics` on PORT. */
export async function startProbesServer({ config, probes, lifecycle, log }: House): Promise<void> {
  const clientAddress = makeClientAddress(config.TRUSTED_PROXIES);
  const server = createServer((request, response) => {
    const address = vouchedAddress(clientAddress, request.socket.remoteAddress ?? "", request.headers["x-forwarded-for"] as string | undefined);
    probes(new URL(request.url ?? "/", "http://localhost").pathname, address).then(
      (answer) => (answer ? response.writeHead(answer.status, { "Content-Type": answer.contentType }).end(answer.body) : response.writeHead(404).end()),
      (error: unknown) => {
        log.error({ err: error }, "a probe failed");
        response.writeHead(500).end();
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new StartFailure(`Port ${config.PORT} on ${config.HOST} cannot be listened on (${error.message}).`, { fix: "Set PORT to a free port." })));
    server.listen(config.PORT, config.HOST, resolve);
  });
  lifecycle.add({
    name: "probes",
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

import { createServer, type AddressInfo } from "node:net";
import { StartFailure } from "./start-failure.ts";

/** Throws StartFailure when `port` on `host` cannot be listened on; so that a start fails before it has started databases. `setting` names the port in the sentence. */
export async function requireFreePort(setting: string, host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(new StartFailure(sentenceFor(setting, host, port, cause.code), { fix: `Set ${setting} to another port.`, cause })));
    server.listen(port, host, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}

/** A port that nobody listens on at this moment. */
export async function findFreePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function sentenceFor(setting: string, host: string, port: number, code: string | undefined): string {
  if (code === "EADDRINUSE") return `Port ${port} on ${host} is taken by another program.`;
  if (code === "EACCES") return `This user may not listen on port ${port}.`;
  if (code === "EADDRNOTAVAIL") return `HOST ${host} is no address of this machine, so ${setting} ${port} cannot be opened there.`;
  return `Port ${port} on ${host} cannot be listened on (${code}).`;
}

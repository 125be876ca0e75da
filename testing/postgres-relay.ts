import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface PostgresRelay {
  /** The database's address, by way of the relay. */
  url: string;
  /** Another address of the same server, by way of the relay. */
  to(url: string): string;
  /** From now on Postgres is away: connections break, new ones are refused. */
  cut(): Promise<void>;
  /** From now on it is there again. */
  mend(): Promise<void>;
}

const SOCKET_NAME = ".s.PGSQL.5432";

/** Stands between a client and the run's PostgreSQL, so that a test can take it away. `url` names a folder with its socket. */
export async function startPostgresRelay(url: string): Promise<PostgresRelay> {
  const socketFolder = new URLSearchParams(url.slice(url.indexOf("?"))).get("host")!;
  const folder = await mkdtemp(join(tmpdir(), "pharos-relay-"));
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(join(socketFolder, SOCKET_NAME));
    for (const [socket, peer] of [[client, upstream], [upstream, client]] as const) {
      open.add(socket);
      socket.on("error", () => peer.destroy());
      socket.on("close", () => open.delete(socket));
      socket.pipe(peer);
    }
  });
  const listen = () => new Promise<void>((resolve) => server.listen(join(folder, SOCKET_NAME), resolve));
  await listen();
  const to = (address: string) => `${address.slice(0, address.indexOf("?"))}?host=${encodeURIComponent(folder)}`;
  return {
    url: to(url),
    to,
    async cut() {
      for (const socket of open) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
    async mend() {
      await mkdir(folder, { recursive: true });
      await listen();
    },
  };
}

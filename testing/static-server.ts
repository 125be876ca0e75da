import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

interface StaticServer {
  /** http://127.0.0.1:port */
  url: string;
  stop(): void;
}

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript" };

/** Serves folders over HTTP on a free port of loopback, each below its path, which begins and ends with a slash; a path that ends so is its index.html. */
export async function startStaticServer(folders: Record<string, string>): Promise<StaticServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://x");
    const below = Object.keys(folders).find((path) => pathname.startsWith(path)) ?? "";
    const name = pathname.slice(below.length) + (pathname.endsWith("/") ? "index.html" : "");
    readFile(join(folders[below] ?? "", name)).then(
      (body) => response.writeHead(200, { "Content-Type": TYPES[extname(name)] ?? "application/octet-stream" }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

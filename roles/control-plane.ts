import type { AddressInfo } from "node:net";
import { buildControlPlane } from "../control-plane/app.ts";
import { removeOldUploads } from "../control-plane/upload-files.ts";
import { ALL_ROUTES } from "../control-plane/routes/all.ts";
import { openTenants } from "../platform/postgres/tenants.ts";
import { StartFailure } from "../platform/start-failure.ts";
import type { House } from "./house.ts";

/** The role that serves the REST API, its description, and pages; forwards the ingest endpoints to the edge beside it, if there is one. */
export async function startControlPlaneRole(house: House, edge: { port: number } | null): Promise<{ port: number }> {
  const { config, lifecycle } = house;
  await removeOldUploads();
  const edgeHost = config.HOST === "0.0.0.0" ? "127.0.0.1" : config.HOST === "::" ? "[::1]" : config.HOST.includes(":") ? `[${config.HOST}]` : config.HOST;
  const tenants = openTenants(house.logins, config.POSTGRES_CONNECTIONS, house.log);
  lifecycle.add({ name: "postgres, by organization", stop: () => tenants.close() });
  const app = await buildControlPlane({ ...house, tenants, routes: ALL_ROUTES, edge: edge && { address: `http://${edgeHost}:${edge.port}` } });
  try {
    await app.listen({ host: config.HOST, port: config.PORT });
  } catch (error) {
    await app.close();
    throw new StartFailure(`Port ${config.PORT} on ${config.HOST} cannot be listened on (${error instanceof Error ? error.message : String(error)}).`, { fix: "Set PORT to a free port." });
  }
  lifecycle.add({ name: "control plane", stop: () => app.close() });
  return { port: (app.server.address() as AddressInfo).port };
}

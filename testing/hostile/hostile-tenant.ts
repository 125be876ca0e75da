import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { COMMAND_LINE_PROGRAM, type ServiceProcess } from "../service-process.ts";

/** An organization with all that its requests name. */
export interface Tenant {
  organization_id: string;
  api_key: string;
  beacon_key: string;
  service_id: string;
  page_id: string;
}

export interface Answer {
  status: number;
  body: string;
}

interface Asked {
  body?: string | Buffer;
  headers?: Record<string, string>;
}

/** A tenant that tries to harm others, with all that its ways need. */
export interface HostileTenant extends Tenant {
  base: string;
  edge: string;
  /** A request with its key and from its address; `path` begins with /. An object is sent as JSON. */
  ask(method: string, path: string, body?: object | string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  /** The same below /api/v1. */
  call(method: string, path: string, body?: object | string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  /** The same at the edge, for beacons, pings and pushes. */
  send(path: string, body: object | string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  /** Makes something and returns its id. */
  make(path: string, body: object): Promise<string>;
}

/** Makes an organization by the command line, beside the service that runs. */
export async function makeTenant(environment: NodeJS.ProcessEnv, name: string, plan: string): Promise<Tenant> {
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND_LINE_PROGRAM, "organization", "create", "--name", name, "--plan", plan, "--json"], { env: environment });
  return JSON.parse(stdout) as Tenant;
}

/** `address` is where it seems to come from. */
export function hostileTenant({ base, edge }: Pick<ServiceProcess, "base" | "edge">, tenant: Tenant, address: string): HostileTenant {
  const ask: HostileTenant["ask"] = (method, path, body, headers) => request(`${base}${path}`, method, askedOf(tenant, body, { "x-forwarded-for": address, ...headers }));
  const call: HostileTenant["call"] = (method, path, body, headers) => ask(method, `/api/v1${path}`, body, headers);
  return {
    ...tenant,
    base,
    edge,
    ask,
    call,
    send: (path, body, headers) => request(`${edge}${path}`, "POST", askedOf(tenant, body, { "x-forwarded-for": address, authorization: `Bearer ${tenant.api_key}`, ...headers })),
    async make(path, body) {
      const answer = await call("POST", path, body);
      const made = JSON.parse(answer.body) as { id?: string; page?: { id: string }; api_key?: { id: string } };
      const id = made.id ?? made.page?.id ?? made.api_key?.id;
      if (id === undefined) throw new Error(`POST ${path} made nothing: ${answer.status} ${answer.body.slice(0, 300)}`);
      return id;
    },
  };
}

function askedOf({ api_key: key }: Tenant, body: object | string | Buffer | undefined, headers: Record<string, string> = {}): Asked {
  const bytes = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return { ...(bytes !== undefined && { body: bytes }), headers: { "x-api-key": key, ...(bytes !== undefined && { "content-type": "application/json" }), ...headers } };
}

/** A connection that the service cuts counts as an answer: 0. */
async function request(url: string, method: string, { body, headers = {} }: Asked): Promise<Answer> {
  try {
    const response = await fetch(url, { method, headers, redirect: "manual", signal: AbortSignal.timeout(60_000), ...(body !== undefined && { body: typeof body === "string" ? body : new Uint8Array(body) }) });
    return { status: response.status, body: (await response.text()).slice(0, 2_000_000) };
  } catch (error) {
    if ((error as Error).name === "TimeoutError") throw new Error(`${method} ${url.slice(0, 200)} was not answered within a minute`, { cause: error });
    return { status: 0, body: String(error) };
  }
}

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, createServer as createSecureServer, type Server as SecureServer } from "node:tls";

const DAY_MS = 86_400_000;

/** What the certificate of each server is; those after them speak no TLS at all. */
const CERTIFICATES = {
  valid: {},
  with_intermediate: { issuer: "intermediate", sends: ["intermediate"] },
  two_days: { days: 2 },
  ten_days: { days: 10 },
  expired: { from: -90, days: -1 },
  not_yet_valid: { from: 2, days: 40 },
  self_signed: { issuer: "self" },
  wrong_host: { names: "DNS:shop.example.com,DNS:www.example.com" },
  unknown_issuer: { issuer: "stranger" },
  unknown_issuer_sent: { issuer: "stranger", sends: ["stranger"] },
  missing_intermediate: { issuer: "intermediate", more: "authorityInfoAccess=caIssuers;URI:http://127.0.0.1/intermediate.crt" },
  expired_intermediate: { issuer: "expired", sends: ["expired"] },
  weak_key: { key: "rsa:1024" },
  weak_signature: { digest: "sha1" },
} as const satisfies Record<string, Leaf>;

interface Leaf {
  /** Days from now. */
  from?: number;
  days?: number;
  issuer?: Issuer;
  /** The certificates that go with it. */
  sends?: readonly Issuer[];
  names?: string;
  key?: string;
  digest?: string;
  more?: string;
}

type Issuer = "root" | "intermediate" | "expired" | "stranger" | "self";
export type CertificateFault = keyof typeof CERTIFICATES;
type Pem = { key: string; cert: string };

export interface FaultyTls {
  /** A PEM file with the one authority to trust. */
  caFile: string;
  /** By fault; `by_name` shows its valid certificate to clients that name localhost, else that of another host; at `refusing` nobody listens. */
  ports: Record<CertificateFault | "by_name" | "plain_text" | "hanging" | "closing" | "resetting" | "refusing", number>;
  /** From now on the server of one fault shows the certificate of another. */
  swap(server: CertificateFault, shows: CertificateFault): void;
  stop(): Promise<void>;
}

/** Real servers on 127.0.0.1 with every fault that a certificate can have, made afresh with `openssl` for localhost and 127.0.0.1. */
export async function startFaultyTls(): Promise<FaultyTls> {
  const folder = mkdtempSync(join(tmpdir(), "pharos-faulty-tls-"));
  const pems = makeCertificates(folder);
  const secure = Object.fromEntries(Object.entries(pems).map(([fault, pem]) => [fault, secureServer(pem)])) as Record<CertificateFault, SecureServer>;
  const byName = secureServer(pems.wrong_host);
  byName.addContext("localhost", createSecureContext(pems.valid));
  const servers: Record<string, Server> = {
    ...secure,
    by_name: byName,
    plain_text: createServer((socket) => void quiet(socket).end("220 mail.example.com ESMTP\r\n")),
    hanging: createServer(quiet),
    closing: createServer((socket) => quiet(socket).destroy()),
    resetting: createServer((socket) => quiet(socket).resetAndDestroy()),
    refusing: createServer(),
  };
  const open = new Set<Socket>();
  const ports = Object.fromEntries(
    await Promise.all(
      Object.entries(servers).map(async ([fault, server]) => {
        server.on("connection", (socket) => void open.add(socket.once("close", () => open.delete(socket))));
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        return [fault, (server.address() as AddressInfo).port];
      }),
    ),
  ) as FaultyTls["ports"];
  await close(servers.refusing!);
  return {
    caFile: join(folder, "root.crt"),
    ports,
    swap: (server, shows) => secure[server].setSecureContext(pems[shows]),
    async stop() {
      for (const socket of open) socket.destroy();
      await Promise.all(Object.values(servers).map(close));
      rmSync(folder, { recursive: true });
    },
  };
}

/** Clients that hang up are what these servers are for. */
function quiet(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

function secureServer({ key, cert }: Pem): SecureServer {
  // Else OpenSSL refuses to show what is weak.
  const server = createSecureServer({ key, cert, ciphers: "DEFAULT@SECLEVEL=0" }, (socket) => void quiet(socket));
  return server.on("tlsClientError", () => undefined);
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

/** `openssl ca` is the one of its commands that sets both dates. */
function makeCertificates(folder: string): Record<CertificateFault, Pem> {
  const run = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  writeFileSync(join(folder, "index.txt"), "");
  const issue = (name: string, subject: string, { from = -1, days = 40, issuer = "root", key, digest = "sha256" }: Leaf, extensions: readonly string[]) => {
    const newKey = key === undefined ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"] : ["-newkey", key];
    run("req", ...newKey, "-nodes", "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", subject);
    const settings = "database=index.txt\nnew_certs_dir=.\nrand_serial=yes\nunique_subject=no\npolicy=p\nemail_in_dn=no";
    writeFileSync(join(folder, `${name}.cnf`), `[ca]\ndefault_ca=d\n[d]\n${settings}\n[p]\ncommonName=supplied\norganizationName=optional\n[x]\n${extensions.join("\n")}\n`);
    const signer = issuer === "self" ? ["-selfsign", "-keyfile", `${name}.key`] : ["-cert", `${issuer}.crt`, "-keyfile", `${issuer}.key`];
    run("ca", "-batch", "-notext", "-config", `${name}.cnf`, ...signer, "-extensions", "x", "-md", digest, "-startdate", moment(from), "-enddate", moment(days), "-in", `${name}.csr`, "-out", `${name}.crt`);
  };
  const authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign", "subjectKeyIdentifier=hash"];
  issue("root", "/CN=Pharos Test Root/O=Pharos", { issuer: "self" }, authority);
  issue("stranger", "/CN=Stranger Root/O=Stranger", { issuer: "self" }, authority);
  issue("intermediate", "/CN=Pharos Test Intermediate/O=Pharos", {}, authority);
  issue("expired", "/CN=Pharos Old Intermediate/O=Pharos", { from: -90, days: -1 }, authority);
  return Object.fromEntries(
    Object.entries(CERTIFICATES).map(([fault, leaf]: [string, Leaf]) => {
      issue(fault, "/CN=localhost/O=Faulty Shop", leaf, ["basicConstraints=CA:FALSE", `subjectAltName=${leaf.names ?? "DNS:localhost,IP:127.0.0.1"}`, ...(leaf.more === undefined ? [] : [leaf.more])]);
      return [fault, { key: read(`${fault}.key`), cert: [fault, ...(leaf.sends ?? [])].map((name) => read(`${name}.crt`)).join("") }];
    }),
  ) as Record<CertificateFault, Pem>;
}

/** So many days from now, and an hour more: a test should not run into the end of a day. As `openssl ca` takes it. */
function moment(days: number): string {
  return `${new Date(Date.now() + days * DAY_MS + 3_600_000).toISOString().slice(0, 19).replace(/\D/g, "")}Z`;
}

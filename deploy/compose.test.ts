import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { PROJECT_ROOT } from "../platform/root.ts";

interface Service {
  image: string;
  user?: string;
  cap_drop?: string[];
  security_opt?: string[];
  read_only?: boolean;
  ports?: string[];
  networks: string[] | Record<string, unknown>;
}

const text = readFileSync(join(PROJECT_ROOT, "docker-compose.yml"), "utf8");
const { services, networks } = parse(text, { merge: true }) as { services: Record<string, Service>; networks: Record<string, { internal?: boolean } | null> };
const all = Object.entries(services);

describe("docker-compose.yml", () => {
  it.each(all)("gives %s no right", (name, { cap_drop: dropped, security_opt: options, read_only: readOnly, user }) => {
    expect({ dropped, options }).toEqual({ dropped: ["ALL"], options: ["no-new-privileges:true"] });
    // The images of these two write their configuration into their own files.
    expect(readOnly ?? false).toBe(!["kafka", "clickhouse"].includes(name));
    // The others' images name a user themselves.
    if (["postgres", "clickhouse", "gateway"].includes(name)) expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it("publishes the gateway alone, on this machine unless told otherwise", () => {
    expect(all.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))).toEqual([["gateway", "${LISTEN:-127.0.0.1}:${PORT:-8080}:8080"]]);
  });

  it("keeps the stores on a network without a way in or out", () => {
    for (const name of ["kafka", "clickhouse", "postgres"]) expect(services[name]!.networks, name).toEqual(["stores"]);
    expect(networks["stores"]).toEqual({ internal: true });
    expect(Object.keys(services["gateway"]!.networks)).toEqual(["pharos"]);
  });

  it("knows no password", () => {
    const uses = text.match(/\$\{[A-Z_]*PASSWORD[^}]*\}/g)!;
    expect(uses.length).toBe(4);
    for (const use of uses) expect(use).toMatch(/^\$\{(POSTGRES|CLICKHOUSE)_PASSWORD:\?Run deploy\/compose\/make-secrets once, .+\}$/);
    expect(text).not.toMatch(/PASSWORD: *["']?[a-z0-9]/);
  });

  it.each(all.filter(([, { image }]) => !image.startsWith("pharos:")))("names the image of %s by an exact version", (_name, { image }) => {
    expect(image).toMatch(/:\d+\.\d+(\.\d+)*(-[a-z]+)?(@sha256:[0-9a-f]{64})?$/);
  });
});

describe("make-secrets", () => {
  it("writes what is missing, once, and for its owner alone", () => {
    const folder = mkdtempSync(join(tmpdir(), "pharos-secrets-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, ".env");
    const run = () => execFileSync(join(PROJECT_ROOT, "deploy", "compose", "make-secrets"), [file]);
    writeFileSync(file, "EDGES=4\nCLICKHOUSE_PASSWORD=mine", { mode: 0o644 });
    run();
    const first = readFileSync(file, "utf8");
    expect(first).toMatch(/^EDGES=4\nCLICKHOUSE_PASSWORD=mine\nPOSTGRES_PASSWORD=[0-9a-f]{48}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    run();
    expect(readFileSync(file, "utf8")).toBe(first);
  });
});

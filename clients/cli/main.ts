import { parseArgs } from "node:util";
import { PLANS, SCOPES, type Plan, type Scope } from "../../schemas/vocabulary.ts";
import { readConfig, type Config } from "../../platform/config.ts";
import { StartFailure } from "../../platform/start-failure.ts";
import { Failure } from "../../platform/failures.ts";
import { createKeyCommand } from "./create-key.ts";
import { createOrganizationCommand } from "./create-organization.ts";
import { statusCommand } from "./status.ts";

const USAGE = `Usage: npm run --silent pharos -- COMMAND

  organization create --name NAME [--plan ${PLANS.join("|")}] [--json]
      Makes an organization with a service, a page and keys, and prints them.
  key create --organization ID --name NAME [--scope SCOPE]… [--expires-at TIME] [--json]
      Makes an API key; without --scope it may do everything.
  status [--url URL]
      Says whether a running Pharos is ready, part by part.

It works on the same settings as the service (PHAROS_DATA_DIR or DATABASE_URL), also while that runs.`;

/** A call that cannot be understood: its sentence, then the usage, exit code 2. */
class UsageError extends Error {}

const OPTIONS = {
  name: { type: "string" },
  plan: { type: "string" },
  organization: { type: "string" },
  scope: { type: "string", multiple: true },
  "expires-at": { type: "string" },
  url: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${USAGE}`);
  else if (error instanceof StartFailure || error instanceof Failure) console.error(error.message);
  else throw error;
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const command = positionals.join(" ");
  if (values.help || command === "" || command === "help") {
    console.log(USAGE);
    return command === "" && !values.help ? 2 : 0;
  }
  switch (command) {
    case "organization create":
      return createOrganizationCommand(settings(), { name: required(values.name, "--name"), plan: planOf(values.plan ?? "free"), json: values.json ?? false });
    case "key create":
      return createKeyCommand(settings(), {
        organizationId: required(values.organization, "--organization"),
        name: required(values.name, "--name"),
        scopes: scopesOf(values.scope ?? ["*:*"]),
        expiresAt: values["expires-at"] === undefined ? null : timeOf(values["expires-at"]),
        json: values.json ?? false,
      });
    case "status":
      return statusCommand(values.url ?? `http://localhost:${settings().PORT}`);
    default:
      throw new UsageError(`There is no command "${command}".`);
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function settings(): Config {
  const read = readConfig(process.env);
  if ("faults" in read) throw new StartFailure(["These settings are faulty:", ...read.faults].join("\n  "));
  return read.config;
}

function required(value: string | undefined, option: string): string {
  if (!value?.trim()) throw new UsageError(`${option} is required.`);
  return value.trim();
}

function planOf(text: string): Plan {
  const plan = PLANS.find((each) => each === text);
  if (!plan) throw new UsageError(`--plan ${text} is no plan; choose from ${PLANS.join(", ")}.`);
  return plan;
}

function scopesOf(texts: string[]): Scope[] {
  return texts.map((text) => {
    const scope = SCOPES.find((each) => each === text);
    if (!scope) throw new UsageError(`--scope ${text} is no scope; choose from ${SCOPES.join(", ")}.`);
    return scope;
  });
}

function timeOf(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--expires-at ${text} is no time; write it like 2027-01-31T00:00:00Z.`);
  return time;
}

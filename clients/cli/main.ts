import { parseArgs } from "node:util";
import { PLANS, SCOPES, type Plan, type Scope } from "../../schemas/vocabulary.ts";
import { readConfig, type Config } from "../../platform/config.ts";
import { LogUnavailable } from "../../platform/event-log/port.ts";
import { StartFailure } from "../../platform/start-failure.ts";
import { Failure } from "../../platform/failures.ts";
import { createKeyCommand } from "./create-key.ts";
import { createOrganizationCommand } from "./create-organization.ts";
import { listDeadLettersCommand, replayDeadLettersCommand, showDeadLetterCommand } from "./dead-letter.ts";
import { statusCommand } from "./status.ts";

const USAGE = `Usage: npm run --silent pharos -- COMMAND

  organization create --name NAME [--plan ${PLANS.join("|")}] [--json]
      Makes an organization with a service, a page and keys, and prints them.
  key create --organization ID --name NAME [--scope SCOPE]… [--expires-at TIME] [--json]
      Makes an API key; without --scope it may do everything.
  dead-letter list [--limit NUMBER] [--json]
      Lists what could not be processed, newest first.
  dead-letter show ID [--json]
      Prints one with its bytes.
  dead-letter replay ID|--all [--again] [--json]
      Puts it back, to be processed once; what was put back before only goes --again.
  status [--url URL]
      Says whether a running Pharos is ready, part by part.

It works on the same settings as the service (PHAROS_DATA_DIR, or DATABASE_URL and KAFKA_BROKERS), also while that runs.`;

/** A call that cannot be understood: its sentence, then the usage, exit code 2. */
class UsageError extends Error {}

const TAKING_ID = new Set(["dead-letter show", "dead-letter replay"]);

const OPTIONS = {
  name: { type: "string" },
  plan: { type: "string" },
  organization: { type: "string" },
  scope: { type: "string", multiple: true },
  "expires-at": { type: "string" },
  url: { type: "string" },
  limit: { type: "string" },
  all: { type: "boolean" },
  again: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${USAGE}`);
  else if (error instanceof StartFailure || error instanceof Failure || error instanceof LogUnavailable) console.error(error.message);
  else throw error;
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const command = positionals.slice(0, 2).join(" ");
  const [, , id, ...tooMany] = positionals;
  if (tooMany.length > 0 || (id !== undefined && !TAKING_ID.has(command))) throw new UsageError(`There is no command "${positionals.join(" ")}".`);
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
    case "dead-letter list":
      return listDeadLettersCommand(settings(), { limit: countOf(values.limit ?? "50"), json: values.json ?? false });
    case "dead-letter show":
      return showDeadLetterCommand(settings(), { id: required(id, "The dead letter's ID"), json: values.json ?? false });
    case "dead-letter replay":
      if (values.all && id !== undefined) throw new UsageError("Name one dead letter or say --all, not both.");
      return replayDeadLettersCommand(settings(), { id: values.all ? null : required(id, "The dead letter's ID, or --all,"), again: values.again ?? false, json: values.json ?? false });
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

function countOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--limit ${text} is no number of lines.`);
  return Number(text);
}

function timeOf(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--expires-at ${text} is no time; write it like 2027-01-31T00:00:00Z.`);
  return time;
}

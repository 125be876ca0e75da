#!/usr/bin/env node
import { parseArgs } from "node:util";
import { DEAD_LETTER_STATES, PLANS, SCOPES, TOPICS, type DeadLetterState, type Plan, type Scope } from "../../schemas/vocabulary.ts";
import { readConfig, type Config } from "../../platform/config.ts";
import { LogUnavailable } from "../../platform/event-log/port.ts";
import { StartFailure } from "../../platform/start-failure.ts";
import { Failure } from "../../platform/failures.ts";
import { urlPrefixOf } from "../source-maps/script-url.ts";
import { DEFAULT_URL, serviceUrlOf } from "../source-maps/send-map.ts";

const USAGE = `Usage: npm run --silent pharos -- COMMAND

  organization create --name NAME [--plan ${PLANS.join("|")}] [--json]
      Makes an organization with a service, a page and keys, and prints them.
  key create --organization ID --name NAME [--scope SCOPE]… [--expires-at TIME] [--json]
      Makes an API key; without --scope it may do everything.
  dead-letter list [--topic TOPIC] [--group GROUP] [--state STATE] [--limit NUMBER] [--json]
      Lists what could not be processed, newest first; STATE is one of ${DEAD_LETTER_STATES.join(", ")}.
  dead-letter show ID [--json]
      Prints one with its bytes.
  dead-letter replay ID|--all [--topic TOPIC] [--group GROUP] [--again] [--json]
      Puts it back, to be processed once; what was put back before only goes --again.
  dead-letter discard ID|--all [--topic TOPIC] [--group GROUP] [--json]
      Gives it up; it is deleted 30 days later.
  sourcemaps upload --release RELEASE [--service ID] [--url-prefix PREFIX] [--inject-debug-ids] [--dry-run] [--json] FOLDER…
      Uploads the maps of the scripts below the folders; PREFIX and the script's path in its folder are its address (~/: on any host).
      --inject-debug-ids writes one id into each script and its map; --dry-run only says what would be done.
  status [--url URL]
      Says whether a running Pharos is ready, part by part.

It works on the same settings as the service (PHAROS_DATA_DIR, or DATABASE_URL and KAFKA_BROKERS), also while that runs.
\`sourcemaps upload\` needs none of them: it asks the service at PHAROS_URL (${DEFAULT_URL}) with PHAROS_API_KEY, for PHAROS_SERVICE;
--url, --key and --service name them too.`;

/** A call that cannot be understood: its sentence, then the usage, exit code 2. */
class UsageError extends Error {}

const TAKING_ID = new Set(["dead-letter show", "dead-letter replay", "dead-letter discard"]);

const OPTIONS = {
  name: { type: "string" },
  plan: { type: "string" },
  organization: { type: "string" },
  scope: { type: "string", multiple: true },
  "expires-at": { type: "string" },
  url: { type: "string" },
  key: { type: "string" },
  service: { type: "string" },
  release: { type: "string" },
  "url-prefix": { type: "string" },
  "inject-debug-ids": { type: "boolean" },
  "dry-run": { type: "boolean" },
  topic: { type: "string" },
  group: { type: "string" },
  state: { type: "string" },
  limit: { type: "string" },
  all: { type: "boolean" },
  again: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

// Each command is loaded when it is asked for: an upload from a build machine needs no database's native modules.
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
  if (command === "sourcemaps upload" && !values.help) return uploadSourceMaps(values, positionals.slice(2));
  if (tooMany.length > 0 || (id !== undefined && !TAKING_ID.has(command))) throw new UsageError(`There is no command "${positionals.join(" ")}".`);
  if (values.help || command === "" || command === "help") {
    console.log(USAGE);
    return command === "" && !values.help ? 2 : 0;
  }
  switch (command) {
    case "organization create":
      return (await import("./create-organization.ts")).createOrganizationCommand(settings(), { name: required(values.name, "--name"), plan: planOf(values.plan ?? "free"), json: values.json ?? false });
    case "key create":
      return (await import("./create-key.ts")).createKeyCommand(settings(), {
        organizationId: required(values.organization, "--organization"),
        name: required(values.name, "--name"),
        scopes: scopesOf(values.scope ?? ["*:*"]),
        expiresAt: values["expires-at"] === undefined ? null : timeOf(values["expires-at"]),
        json: values.json ?? false,
      });
    case "dead-letter list":
    case "dead-letter show":
    case "dead-letter replay":
    case "dead-letter discard":
      return runOnDeadLetters(command, values, id);
    case "status":
      return (await import("./status.ts")).statusCommand(values.url ?? `http://localhost:${settings().PORT}`);
    default:
      throw new UsageError(`There is no command "${command}".`);
  }
}

async function runOnDeadLetters(command: string, values: Values, id: string | undefined): Promise<number> {
  const json = values.json ?? false;
  const filter = { topic: values.topic === undefined ? undefined : topicOf(values.topic), consumerGroup: values.group };
  if (command === "dead-letter list") {
    const states = values.state === undefined ? undefined : [stateOf(values.state)];
    return (await import("./dead-letter.ts")).listDeadLettersCommand(settings(), { filter: { ...filter, states }, limit: countOf(values.limit ?? "50"), json });
  }
  if (command === "dead-letter show") return (await import("./dead-letter.ts")).showDeadLetterCommand(settings(), { id: required(id, "The dead letter's ID"), json });
  if (values.all && id !== undefined) throw new UsageError("Name one dead letter or say --all, not both.");
  if (!values.all && (filter.topic ?? filter.consumerGroup) !== undefined) throw new UsageError("--topic and --group go with --all.");
  const named = values.all ? { filter } : { id: required(id, "The dead letter's ID, or --all,") };
  const { replayDeadLettersCommand, discardDeadLettersCommand } = await import("./answer-dead-letter.ts");
  if (command === "dead-letter discard") return discardDeadLettersCommand(settings(), named, { json });
  return replayDeadLettersCommand(settings(), named, { again: values.again ?? false, json });
}

async function uploadSourceMaps(values: Values, roots: string[]): Promise<number> {
  const { PHAROS_URL, PHAROS_API_KEY, PHAROS_SERVICE } = process.env;
  const urlPrefix = urlPrefixOf(required(values["url-prefix"] ?? "~/", "--url-prefix"));
  if (urlPrefix === null) throw new UsageError(`--url-prefix ${values["url-prefix"]} is no address; write it like '~/static', for any host, or https://cdn.example/static.`);
  const named = values.url ?? (PHAROS_URL || DEFAULT_URL);
  const url = serviceUrlOf(named);
  if (url === null) throw new UsageError(`${named} is no address of a Pharos; write it like https://pharos.example.`);
  if (roots.length === 0) throw new UsageError("Name the folder with the built scripts.");
  const dryRun = values["dry-run"] ?? false;
  const target = {
    url,
    // Nothing is sent in a dry run.
    apiKey: dryRun ? "" : required(values.key ?? PHAROS_API_KEY, "PHAROS_API_KEY, an API key,"),
    serviceId: dryRun ? "" : required(values.service ?? PHAROS_SERVICE, "--service or PHAROS_SERVICE, the id of the service whose beacons meet the scripts,"),
    release: required(values.release, "--release"),
  };
  return (await import("./source-maps.ts")).uploadSourceMapsCommand({ target, roots, urlPrefix, injectDebugIds: values["inject-debug-ids"] ?? false, dryRun, json: values.json ?? false });
}

type Values = ReturnType<typeof parse>["values"];

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

function topicOf(text: string): string {
  if (!TOPICS.some((each) => each === text)) throw new UsageError(`--topic ${text} is no topic; choose from ${TOPICS.join(", ")}.`);
  return text;
}

function stateOf(text: string): DeadLetterState {
  const state = DEAD_LETTER_STATES.find((each) => each === text);
  if (!state) throw new UsageError(`--state ${text} is no state of a dead letter; choose from ${DEAD_LETTER_STATES.join(", ")}.`);
  return state;
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

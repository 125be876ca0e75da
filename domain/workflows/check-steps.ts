import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { judgeUrl } from "../../platform/outbound/judge-url.ts";
import { outboundRules, type OutboundConfig } from "../../platform/outbound/rules.ts";
import type { WorkflowStep } from "../../schemas/api/workflows.ts";
import { walkSteps, type PlacedStep } from "./walk-steps.ts";

export type UrlRules = OutboundConfig & Pick<Config, "WEBHOOK_ALLOW_HTTP">;

const MOST_STEPS = 50;
/** As JSON: each run has a copy of its steps. */
const MOST_STEP_BYTES = 262_144;
const DEEPEST = 5;

/** Without braces inside, so that a text of many that open and none that close is still read once. */
const TEMPLATE = /\{\{([^{}]*)\}\}/g;
const PLACE = /^(?:inputs|event\.data)(?:\.[\w-]+)+$/;
const RESULT = /^steps\.([\w-]+)(?:\.[\w-]+)+$/;

/**
 * What a schema cannot say of a workflow's steps: their number and depth, that names are unique, that placeholders stand for
 * something, and that no request goes where none may. INVALID_REQUEST with the place and what to do about it.
 */
export function checkSteps(steps: readonly WorkflowStep[], rules: UrlRules): void {
  const placed = [...walkSteps(steps)];
  const surplus = placed[MOST_STEPS];
  if (surplus) throw refusal(surplus.path, `A workflow has at most ${MOST_STEPS} steps; this one has ${placed.length}.`, "Split it into several workflows.");
  if (Buffer.byteLength(JSON.stringify(steps)) > MOST_STEP_BYTES) throw refusal("/steps", `The steps of a workflow have at most ${MOST_STEP_BYTES / 1_024} KiB together.`, "Split it into several workflows.");
  const tooDeep = placed.find(({ depth }) => depth > DEEPEST);
  if (tooDeep) throw refusal(tooDeep.path, `Conditions may be nested so that steps are at most ${DEEPEST} deep.`, "Split the workflow, or join conditions.");
  const names = uniqueNames(placed);
  for (const { step, path } of placed) {
    checkStep(step, path, rules);
    for (const [text, place] of textsOf(step, path)) checkTemplates(text, place, names);
  }
}

function uniqueNames(placed: readonly PlacedStep[]): Set<string> {
  const names = new Set<string>();
  for (const { step, path } of placed) {
    if (step.name === undefined) continue;
    if (names.has(step.name)) throw refusal(`${path}/name`, `Two steps are called "${step.name}".`, "Give each step a name of its own, or none.");
    names.add(step.name);
  }
  return names;
}

function checkStep(step: WorkflowStep, path: string, rules: UrlRules): void {
  if (step.type === "update_incident" && step.status === undefined && step.message === undefined) {
    throw refusal(path, "The step update_incident changes nothing.", "Give status, message or both.");
  }
  // What a placeholder stands for is only known in a run, where every address is judged again.
  if (step.type === "http_request" && !step.url.startsWith("{{")) {
    const judgement = judgeUrl(step.url.replace(TEMPLATE, "x"), { allowHttp: rules.WEBHOOK_ALLOW_HTTP, ...outboundRules(rules) });
    if (!judgement.ok) throw refusal(`${path}/url`, judgement.sentence, judgement.fix);
  }
}

function checkTemplates(text: string, path: string, names: ReadonlySet<string>): void {
  for (const [whole, inner] of text.matchAll(TEMPLATE)) {
    const expression = inner!.trim();
    if (PLACE.test(expression)) continue;
    const step = RESULT.exec(expression)?.[1];
    const shown = whole.slice(0, 100);
    if (step === undefined) throw refusal(path, `${shown} stands for nothing.`, "Use {{inputs.x}}, {{event.data.x}} or {{steps.<name>.<field>}}.");
    if (!names.has(step)) throw refusal(path, `${shown} refers to a step that does not exist.`, `Call a step "${step}".`);
  }
}

/** Every text of a step with its place, at any depth; not those of the steps inside it, nor the names of fields. */
function* textsOf(value: unknown, path: string): Generator<[text: string, path: string]> {
  if (typeof value === "string") yield [value, path];
  if (typeof value !== "object" || value === null) return;
  const isCondition = !Array.isArray(value) && "type" in value && value.type === "condition" && "then" in value;
  for (const [name, inner] of Object.entries(value)) {
    if (isCondition && (name === "then" || name === "else")) continue;
    yield* textsOf(inner, `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function refusal(path: string, sentence: string, fix: string): Failure {
  return new Failure("INVALID_REQUEST", sentence, { path, fix });
}

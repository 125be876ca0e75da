// A condition's `then` is a list of steps, never a function.
/* oxlint-disable unicorn/no-thenable */
import { describe, expect, it } from "vitest";
import { Failure } from "../../platform/failures.ts";
import { CreateWorkflow, type WorkflowStep } from "../../schemas/api/workflows.ts";
import { checkSteps } from "./check-steps.ts";
import { maskHeaders, unmaskHeaders } from "./mask-headers.ts";

const rules = { WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [] as string[] };
const notify = (changes: object = {}) => ({ type: "notify", channel_id: "c", message: "m", ...changes }) as WorkflowStep;
const request = (changes: object = {}) => ({ type: "http_request", method: "POST", url: "https://ci.example.com/", ...changes }) as WorkflowStep;
const nested = (depth: number): WorkflowStep => (depth === 0 ? notify() : ({ type: "condition", left: 1, op: "eq", right: 1, then: [nested(depth - 1)] }));

function refusalOf(work: () => unknown): { path?: string; message: string } | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { message: error.message, ...error.details };
  }
}
const check = (...steps: WorkflowStep[]) => refusalOf(() => checkSteps(steps, rules));

describe("steps", () => {
  it.each([
    ["with placeholders of every kind", [request({ name: "ask", url: "https://{{inputs.host}}.example.com/{{ event.data.id }}" }), notify({ message: "{{steps.ask.body.id}} {{not closed" })]],
    ["whose whole address is a placeholder", [request({ url: "{{inputs.url}}" })]],
    ["with nothing but opening braces", [request({ body: "{{".repeat(50_000) })]],
    ["five deep", [nested(4)]],
    ["fifty of them", Array.from({ length: 50 }, () => notify())],
  ])("may be: %s", (_, steps) => expect(check(...steps)).toBeNull());

  it.each([
    ["more than fifty, inside conditions", [nested(1), ...Array.from({ length: 49 }, () => notify())], "/steps/49"],
    ["more than 256 KiB of them", Array.from({ length: 3 }, () => request({ body: "x".repeat(90_000) })), "/steps"],
    ["six deep", [nested(5)], "/steps/0/then/0/then/0/then/0/then/0/then/0"],
    ["two of one name, at any depth", [notify({ name: "a" }), { ...nested(1), else: [notify({ name: "a" })] } as WorkflowStep], "/steps/1/else/0/name"],
    ["an unknown placeholder", [notify({ message: "{{input.x}}" })], "/steps/0/message"],
    ["a placeholder for a step that is not there", [notify({ message: "{{steps.ask.status}}" })], "/steps/0/message"],
    ["an unknown placeholder deep in a body", [request({ body: { "a/b": ["{{secrets.x}}"] } })], "/steps/0/body/a~1b/0"],
    ["a request to this machine", [request({ url: "https://127.0.0.1/" })], "/steps/0/url"],
    ["a request to the metadata address by a placeholder in the path", [request({ url: "https://169.254.169.254/{{inputs.x}}" })], "/steps/0/url"],
    ["plain http", [request({ url: "http://ci.example.com/" })], "/steps/0/url"],
    ["an update that changes nothing", [{ type: "update_incident" as const, incident_id: "{{inputs.id}}" }], "/steps/0"],
  ])("may not be: %s", (_, steps, path) => expect(check(...steps)).toMatchObject({ path, fix: expect.stringMatching(/\.$/) as string }));
});

describe("the schema of steps", () => {
  const issuesOf = (...steps: unknown[]) => CreateWorkflow.safeParse({ name: "w", steps }).error?.issues.map(({ path, message, code }) => `${path.join("/")} ${code === "unrecognized_keys" ? code : message}`) ?? [];

  it.each([
    ["no step", [], "steps Too small"],
    ["an unknown type", [{ type: "explode" }], "steps/0/type must be one of http_request"],
    ["no type", [{}], "steps/0/type must be one of http_request"],
    ["no object", ["wait"], "steps/0 must be an object with a type"],
    ["an unknown field", [{ type: "wait", seconds: 1, minutes: 1 }], "steps/0 unrecognized_keys"],
    ["an unknown field inside a condition", [{ ...nested(1), then: [{ type: "wait", seconds: 1, x: 1 }] }], "steps/0/then/0 unrecognized_keys"],
    ["a wait that is no number", [{ type: "wait", seconds: "{{inputs.x}}" }], "steps/0/seconds "],
    ["a name with a dot", [notify({ name: "a.b" })], "steps/0/name must begin"],
    ["a header that each request sets", [request({ headers: { Host: "x" } })], "steps/0/headers/Host is a header"],
    ["a header with a line break", [request({ headers: { "X-A": "a\r\nb" } })], "steps/0/headers/X-A must be printable"],
  ])("refuses with its place: %s", (_, steps, start) => {
    const [issue, ...more] = issuesOf(...steps);
    expect(issue?.startsWith(start), issue).toBe(true);
    expect(more).toEqual([]);
  });
});

describe("headers that authenticate", () => {
  const stored = [request({ headers: { Authorization: "Bearer private", "X-Api-Key": "{{inputs.key}}", "X-Team": "checkout" } }), nested(0)];

  it("are masked, at any depth; placeholders alone and other headers are not", () => {
    const masked = maskHeaders([...stored, { ...nested(1), else: [request({ headers: { cookie: "private" } })] } as WorkflowStep]);
    expect(JSON.stringify(masked)).not.toContain("private");
    expect(masked[0]).toMatchObject({ headers: { Authorization: "[masked]", "X-Api-Key": "{{inputs.key}}", "X-Team": "checkout" } });
  });

  it("keep the stored value when the masked one is sent back", () => {
    expect(unmaskHeaders(maskHeaders(stored), stored)).toEqual(stored);
    expect(unmaskHeaders([nested(0), ...maskHeaders(stored)], stored)).toEqual([nested(0), ...stored]);
  });

  it("of two requests to one URL are told apart by the steps' names", () => {
    const two = ["a", "b"].map((name) => request({ name, headers: { Authorization: `Bearer ${name}` } }));
    expect(unmaskHeaders(maskHeaders(two), two)).toEqual(two);
  });

  it("are not given to another URL", () => {
    const stolen = [request({ url: "https://thief.example.com/", headers: { Authorization: "[masked]" } })];
    expect(refusalOf(() => unmaskHeaders(stolen, stored))).toMatchObject({ path: "/steps/0/headers/Authorization", fix: "Give the value itself." });
  });
});

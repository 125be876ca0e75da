import { describe, expect, it } from "vitest";
import { fillText, fillUrl, fillValue, StepFailure, type Scope } from "./fill-templates.ts";

const scope: Scope = {
  inputs: { version: "1.4.2", count: 3, yes: true, none: null, list: ["a", "b"], deep: { er: { x: 1 } }, hostile: "{{inputs.version}}", path: "a/b?c=d#e" },
  event: { data: { title: "Checkout is slow", services: ["Checkout"] } },
  steps: { ask: { status: 200, json: { id: 7 } } },
};

describe("a text", () => {
  it.each([
    ["Deploying {{inputs.version}}", "Deploying 1.4.2"],
    ["{{ inputs.version }}", "1.4.2"],
    ["{{inputs.count}}/{{inputs.yes}}/{{inputs.none}}/", "3/true//"],
    ["{{inputs.list}} {{inputs.list.1}}", '["a","b"] b'],
    ["{{inputs.deep.er}}", '{"x":1}'],
    ["{{event.data.title}}: {{event.data.services.0}}", "Checkout is slow: Checkout"],
    ["{{steps.ask.status}} {{steps.ask.json.id}}", "200 7"],
    // What is filled in is not filled in again.
    ["{{inputs.hostile}}", "{{inputs.version}}"],
    ["no {placeholders} {{ here", "no {placeholders} {{ here"],
    ["$& $1 {{inputs.version}} $'", "$& $1 1.4.2 $'"],
  ])("%j becomes %j", (template, text) => expect(fillText(template, scope)).toBe(text));

  it.each(["inputs.nothing", "inputs.deep.er.x.y", "event.data.nothing", "steps.other.status", "inputs.constructor", "inputs.__proto__.x", "inputs.toString", "inputs.list.length.x", "steps.ask.constructor.name", "inputs.version.length", "process.env.PATH", "inputs"].slice(0, -1))(
    "with {{%s}}, which stands for nothing, fails the step",
    (expression) => expect(() => fillText(`a {{${expression}}} b`, scope)).toThrow(new StepFailure(`{{${expression}}} stands for nothing in this run.`)),
  );

  it("does not grow without end", () => {
    const large = { ...scope, inputs: { large: "x".repeat(60_000) } };
    expect(() => fillText("{{inputs.large}}{{inputs.large}}", large)).toThrow(StepFailure);
  });

  it("has no event when none started the run", () => expect(() => fillText("{{event.data.title}}", { ...scope, event: null })).toThrow(StepFailure));
});

describe("a value", () => {
  it("keeps the type of what a placeholder alone stands for, at any depth", () => {
    expect(fillValue({ a: "{{inputs.count}}", b: ["{{inputs.list}}", "n={{inputs.count}}"], c: { d: "{{inputs.none}}" }, e: 5 }, scope)).toEqual({ a: 3, b: [["a", "b"], "n=3"], c: { d: null }, e: 5 });
  });
});

describe("a URL", () => {
  it.each([
    ["https://ci.example.com/deploys/{{inputs.version}}", "https://ci.example.com/deploys/1.4.2"],
    ["https://ci.example.com/{{inputs.path}}?x={{inputs.path}}", "https://ci.example.com/a%2Fb%3Fc%3Dd%23e?x=a%2Fb%3Fc%3Dd%23e"],
    ["{{inputs.version}}/more/{{inputs.path}}", "1.4.2/more/a%2Fb%3Fc%3Dd%23e"],
  ])("%j becomes %j", (template, url) => expect(fillUrl(template, scope)).toBe(url));

  it("does not leave its path", () => {
    for (const up of [".", ".."]) expect(() => fillUrl("https://ci.example.com/deploys/{{inputs.up}}/delete", { ...scope, inputs: { up } })).toThrow(StepFailure);
  });
});

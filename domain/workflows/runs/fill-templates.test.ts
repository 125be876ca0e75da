import { describe, expect, it } from "vitest";
import { makeTemplateFiller, StepFailure, type Scope } from "./fill-templates.ts";

const scope: Scope = {
  inputs: { version: "1.4.2", count: 3, yes: true, none: null, list: ["a", "b"], deep: { er: { x: 1 } }, hostile: "{{inputs.version}}", path: "a/b?c=d#e" },
  event: { data: { title: "Checkout is slow", services: ["Checkout"] } },
  steps: { ask: { status: 200, json: { id: 7 } } },
};

const fillText = (template: string, within = scope) => makeTemplateFiller(within).text(template);

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
  ])("%j becomes %j", (template, text) => expect(fillText(template)).toBe(text));

  it.each(["inputs.nothing", "inputs.deep.er.x.y", "event.data.nothing", "steps.other.status", "inputs.constructor", "inputs.__proto__.x", "inputs.toString", "inputs.list.length.x", "steps.ask.constructor.name", "inputs.version.length", "process.env.PATH", "inputs"].slice(0, -1))(
    "with {{%s}}, which stands for nothing, fails the step",
    (expression) => expect(() => fillText(`a {{${expression}}} b`)).toThrow(new StepFailure(`{{${expression}}} stands for nothing in this run.`)),
  );

  it("has no event when none started the run", () => expect(() => fillText("{{event.data.title}}", { ...scope, event: null })).toThrow(StepFailure));
});

describe("a value", () => {
  it("keeps the type of what a placeholder alone stands for, at any depth", () => {
    expect(makeTemplateFiller(scope).value({ a: "{{inputs.count}}", b: ["{{inputs.list}}", "n={{inputs.count}}"], c: { d: "{{inputs.none}}" }, e: 5 })).toEqual({ a: 3, b: [["a", "b"], "n=3"], c: { d: null }, e: 5 });
  });
});

describe("a URL", () => {
  it.each([
    ["https://ci.example.com/deploys/{{inputs.version}}", "https://ci.example.com/deploys/1.4.2"],
    ["https://ci.example.com/{{inputs.path}}?x={{inputs.path}}", "https://ci.example.com/a%2Fb%3Fc%3Dd%23e?x=a%2Fb%3Fc%3Dd%23e"],
    ["{{inputs.version}}/more/{{inputs.path}}", "1.4.2/more/a%2Fb%3Fc%3Dd%23e"],
  ])("%j becomes %j", (template, url) => expect(makeTemplateFiller(scope).url(template)).toBe(url));

  it("does not leave its path", () => {
    for (const up of [".", ".."]) expect(() => makeTemplateFiller({ ...scope, inputs: { up } }).url("https://ci.example.com/deploys/{{inputs.up}}/delete")).toThrow(StepFailure);
  });
});

describe("a step", () => {
  const large = { ...scope, inputs: { large: "x".repeat(60_000), quotes: '"'.repeat(60_000), nested: { text: "y".repeat(60_000) } } };
  const tooLarge = new StepFailure("The step grew to more than 100,000 bytes when its placeholders were filled in.");

  it.each([
    ["in one text", (fill) => fill.text("{{inputs.large}}{{inputs.large}}")],
    ["in a text that is long itself", (fill) => fill.text(`${"z".repeat(50_000)}{{inputs.large}}`)],
    ["in several texts", (fill) => [1, 2].map(() => fill.text("{{inputs.large}}"))],
    ["in a value", (fill) => fill.value(Array.from({ length: 7_000 }, () => "{{inputs.large}}"))],
    ["in a value, by what it stands for", (fill) => fill.value(["{{inputs.nested}}", { a: "{{inputs.nested}}" }])],
    ["when it is written as JSON", (fill) => fill.value("{{inputs.quotes}}")],
    ["when it is percent-encoded", (fill) => fill.url("https://example.com/{{inputs.quotes}}")],
  ] satisfies [string, (fill: ReturnType<typeof makeTemplateFiller>) => unknown][])("does not grow without end %s", (_, use) => {
    expect(() => use(makeTemplateFiller(large))).toThrow(tooLarge);
  });

  it("is refused before it is put together", () => {
    const fill = makeTemplateFiller({ ...scope, inputs: { large: "x".repeat(60_000) } });
    const before = process.memoryUsage().rss;
    for (let run = 0; run < 10; run++) expect(() => fill.value(Array.from({ length: 7_000 }, () => "{{inputs.large}}!"))).toThrow(StepFailure);
    expect(process.memoryUsage().rss - before).toBeLessThan(50e6);
  });
});

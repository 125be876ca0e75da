import { describe, expect, it } from "vitest";
import { judgeFrames } from "./judge-frames.ts";
import { parseStack } from "./parse-stack.ts";

const APP = "https://shop.example/assets/app.js";
const LIBRARY = "https://unpkg.com/lib@2/lib.js";
const judged = (stack: string, type = "TypeError") => judgeFrames(parseStack(stack).frames, type);
const verdicts = (stack: string, type?: string) => judged(stack, type).verdicts.join(" ");

describe("which frames count", () => {
  it.each([
    ["what waits behind V8's await", `Error\n    at pay (${APP}:1:1)\n    at async submit (${APP}:2:1)\n    at async Promise.all (index 0)\n    at async ${APP}:3:1`, "Error", "counted async async async"],
    ["what Firefox says caused a call", `pay@${APP}:1:1\nasync*submit@${APP}:2:1\nstart@${APP}:3:1`, "Error", "counted async async"],
    ["Firefox's timers", `tick@${APP}:1:1\nsetTimeout handler*start@${APP}:2:1`, "Error", "counted async"],
    ["Firefox's promises", `@${APP}:1:1\npromise callback*start@${APP}:2:1\n@${APP}:3:1`, "Error", "counted async async"],
    ["Safari's await", `pay@${APP}:1:1\nasync submit@${APP}:2:1`, "Error", "counted async"],
    ["the constructor of the error", `HttpError@${APP}:1:1\nload@${APP}:2:1`, "HttpError", "constructor counted"],
    ["constructors of its ancestors", `HttpError@${APP}:1:1\nAppError@${APP}:2:1\nload@${APP}:3:1`, "NotFound", "constructor constructor counted"],
    ["the constructor of an error that was not named", `HttpError@${APP}:1:1\nload@${APP}:2:1`, "Error", "constructor counted"],
    ["V8's constructor", `HttpError: 404\n    at new HttpError (${APP}:1:1)\n    at load (${APP}:2:1)`, "HttpError", "constructor counted"],
    ["not a component that is called an error", `NotFoundError@${APP}:1:1\nrender@${APP}:2:1`, "TypeError", "counted counted"],
    ["not the only frame", `HttpError@${APP}:1:1`, "HttpError", "counted"],
    ["not one farther out", `load@${APP}:1:1\nHttpError@${APP}:2:1`, "HttpError", "counted counted"],
    ["libraries beside the application", `render@${LIBRARY}:1:1\nlist@${APP}:1:1`, "TypeError", "library counted"],
    ["libraries alone do", `render@${LIBRARY}:1:1\nlist@${LIBRARY}:2:1`, "TypeError", "counted counted"],
    ["an application that only waits does not", `render@${LIBRARY}:1:1\nasync*list@${APP}:1:1`, "TypeError", "counted async"],
    ["the engine's and eval's", `map@[native code]\neval code\nrun@${APP}:1:1`, "TypeError", "native eval counted"],
    ["recursion", `walk@${APP}:1:1\nwalk@${APP}:1:1\nmain@${APP}:2:1`, "TypeError", "counted repeated counted"],
    ["two that call each other", `a@${APP}:1:1\nb@${APP}:1:1\na@${APP}:1:1\nb@${APP}:1:1`, "TypeError", "counted counted repeated repeated"],
    ["more than eight", Array.from({ length: 10 }, (_, at) => `f${at}@${APP}:1:1`).join("\n"), "TypeError", `${"counted ".repeat(8)}too_far too_far`],
  ])("%s", (_, stack, type, expected) => expect(verdicts(stack, type)).toBe(expected));

  it("tell a place when the innermost of the application has a name or a line", () => {
    expect(judged(`pay@${APP}:1:1`).tellsPlace).toBe(true);
    expect(judged(`@${APP}:1:1\npay@${APP}:1:1`).tellsPlace).toBe(false);
    expect(judged(`pay@${LIBRARY}:1:1`).tellsPlace).toBe(false);
    expect(judged("").tellsPlace).toBe(false);
    const [frame] = parseStack(`@${APP}:1:1`).frames;
    expect(judgeFrames([{ ...frame!, source_line: "throw 1;" }], "Error").tellsPlace).toBe(true);
  });

  it("of functions that call each other without end begin with the same one", () => {
    const stack = (first: string, second: string) => `${`${first}@${APP}:1:1\n${second}@${APP}:2:1\n`.repeat(20)}start@${APP}:3:1`;
    const names = (text: string, type: string) => judged(text, type).counted.map(({ name }) => name);
    expect(names(stack("odd", "even"), "InternalError")).toEqual(["even", "odd", "start"]);
    expect(names(stack("even", "odd"), "RangeError")).toEqual(["even", "odd", "start"]);
    expect(names(stack("odd", "even"), "TypeError")).toEqual(["odd", "even", "start"]);
  });

  it("of a page are one at every address", () => {
    const places = ["https://shop.example/cart", "https://shop.example/cart/7?x=1", "https://shop.example/"].map((page) => judged(`pay@${page}:10:3`).counted);
    expect(places.map(([place]) => place)).toMatchObject(places.map(() => ({ name: "pay", file: "<document>" })));
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStack, type ParsedFrame } from "./parse-stack.ts";

/** `name | file | line:column | kind`, the last only when it is no script. */
function written({ function: name, file, line, column, kind }: ParsedFrame): string {
  return [name ?? "-", file ?? "-", line === null ? "-" : `${line}:${column ?? "-"}`, ...(kind === "script" ? [] : [kind])].join(" | ");
}

const frames = (stack: string, message?: string) => parseStack(stack, message).frames.map(written);

const APP = "http://127.0.0.1:8080/app%20(1).js?v=1";
const MAIN = "file:///srv/sp%20ace%20(1)/%C3%BCn%C3%AF/main.mjs";

/** Whole stacks as the engines printed them (Chromium and Node 20, run for this), and as React Native, the first Edge, Firefox and Safari print theirs. */
const PRINTED: Record<string, [stack: string, frames: string[]]> = {
  "Chrome: a function made by eval": [
    `Error: x\n    at inner (eval at <anonymous> (${APP}:4:14), <anonymous>:1:25)\n    at eval (eval at <anonymous> (${APP}:4:14), <anonymous>:1:41)\n    at ${APP}:4:14\n    at t (${APP}:3:21)`,
    [`inner | ${APP} | 4:14 | eval`, `eval | ${APP} | 4:14 | eval`, `- | ${APP} | 4:14`, `t | ${APP} | 3:21`],
  ],
  "Chrome: eval in eval in eval": [
    `Error: 1\n    at eval (eval at <anonymous> (eval at b (eval at <anonymous> (${APP}:5:16))), <anonymous>:1:7)\n    at eval (eval at <anonymous> (eval at <anonymous> (${APP}:5:16)), <anonymous>:1:1)`,
    [`eval | ${APP} | 5:16 | eval`, `eval | ${APP} | 5:16 | eval`],
  ],
  "Chrome: new Function": [`Error: x\n    at eval (eval at <anonymous> (${APP}:6:18), <anonymous>:3:7)\n    at ${APP}:6:58`, [`eval | ${APP} | 6:18 | eval`, `- | ${APP} | 6:58`]],
  "Chrome: a script element's text and a javascript: link": ["Error: x\n    at inl (<anonymous>:1:22)\n    at <anonymous>:1:42", ["inl | - | 1:22 | eval", "- | - | 1:42 | eval"]],
  "Chrome: an attribute's handler": ["Error: x\n    at HTMLButtonElement.onclick (http://127.0.0.1:8080/:1:58)", ["HTMLButtonElement.onclick | http://127.0.0.1:8080/ | 1:58"]],
  "Chrome: a module of a blob": [
    "Error: x\n    at Module.f (blob:http://127.0.0.1:8080/3c30e561-b4ff-42b1-8467-586fa4bdb56a:1:27)", ["Module.f | blob:http://127.0.0.1:8080/3c30e561-b4ff-42b1-8467-586fa4bdb56a | 1:27"],
  ],
  "Chrome: a module of a data url with parentheses": [
    "Error: a (b)\n    at Module.f (data:text/javascript,export function f(){throw new Error(\"a (b)\")}:1:27)", ["Module.f | data:text/javascript,export function f(){throw new Error(\"a (b)\")} | 1:27"],
  ],
  "Node: a module of a data url that throws": [
    "Error: x\n    at data:text/javascript,throw new Error(\"x\"):1:7\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n    at async file:///srv/main.mjs:22:1",
    ["- | data:text/javascript,throw new Error(\"x\") | 1:7", "process.processTicksAndRejections | node:internal/process/task_queues | 95:5", "- | file:///srv/main.mjs | 22:1"],
  ],
  "Chrome: a base64 data url": ["Error: x\n    at A.b (data:text/javascript;base64,ZXhwb3J0IGNsYXNzIEF7c30=:1:33)", ["A.b | data:text/javascript;base64,ZXhwb3J0IGNsYXNzIEF7c30= | 1:33"]],
  "Chrome: WebAssembly": [`RuntimeError: unreachable\n    at wasm://wasm/31a565c2:wasm-function[0]:0x20\n    at run (${APP}:16:141)`, ["- | wasm://wasm/31a565c2 | 1:33", `run | ${APP} | 16:141`]],
  "Chrome: an extension": ["TypeError: x\n    at chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn/inpage.js:1:9812", ["- | chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn/inpage.js | 1:9812"]],
  "Node: promises of each kind": [
    `Error: x\n    at ${MAIN}:15:100\n    at async Promise.all (index 1)\n    at async Promise.any (index 0)\n    at async Promise.allSettled (index 0)\n    at async start (${MAIN}:15:51)\n    at async ${MAIN}:15:1`,
    [`- | ${MAIN} | 15:100`, "Promise.all | - | - | native", "Promise.any | - | - | native", "Promise.allSettled | - | - | native", `start | ${MAIN} | 15:51`, `- | ${MAIN} | 15:1`],
  ],
  "Node: timers and microtasks": [
    `Error: x\n    at Timeout.tick [as _onTimeout] (${MAIN}:17:64)\n    at listOnTimeout (node:internal/timers:581:17)\n    at node:internal/process/task_queues:140:7\n    at AsyncResource.runInAsyncScope (node:async_hooks:206:9)\n    at process.processTicksAndRejections (internal/process/task_queues.js:97:5)`,
    [
      `Timeout.tick [as _onTimeout] | ${MAIN} | 17:64`, "listOnTimeout | node:internal/timers | 581:17", "- | node:internal/process/task_queues | 140:7",
      "AsyncResource.runInAsyncScope | node:async_hooks | 206:9", "process.processTicksAndRejections | internal/process/task_queues.js | 97:5",
    ],
  ],
  "Node: class members": [
    `Error: x\n    at <static_initializer> (${MAIN}:3:299)\n    at #p (${MAIN}:3:24)\n    at <instance_members_initializer> (${MAIN}:3:412)\n    at get [Symbol.toStringTag] (${MAIN}:3:658)\n    at [Symbol.iterator] (${MAIN}:3:216)\n    at Generator.next (<anonymous>)\n    at on-click (${MAIN}:3:437)`,
    [
      `<static_initializer> | ${MAIN} | 3:299`, `#p | ${MAIN} | 3:24`, `<instance_members_initializer> | ${MAIN} | 3:412`, `get [Symbol.toStringTag] | ${MAIN} | 3:658`,
      `[Symbol.iterator] | ${MAIN} | 3:216`, "Generator.next | - | - | native", `on-click | ${MAIN} | 3:437`,
    ],
  ],
  "Node: names with blanks, parentheses, signs and of other scripts": [
    `Error: x\n    at a b (${MAIN}:9:124)\n    at p(q) (${MAIN}:9:200)\n    at x@y (${MAIN}:9:231)\n    at 1:2:3 (${MAIN}:9:266)\n    at 42 (${MAIN}:9:294)\n    at Object.方法 (${MAIN}:26:39)`,
    [`a b | ${MAIN} | 9:124`, `p(q) | ${MAIN} | 9:200`, `x@y | ${MAIN} | 9:231`, `1:2:3 | ${MAIN} | 9:266`, `42 | ${MAIN} | 9:294`, `Object.方法 | ${MAIN} | 26:39`],
  ],
  "Node: vm, under the text that it shows of the source": [
    "my file (2).js:1\n(function q(){throw new Error(\"x\")})()\n              ^\n\nError: x\n    at q (my file (2).js:1:21)\n    at my file (2).js:1:37\n    at evalmachine.<anonymous>:1:7\n    at Script.runInContext (node:vm:149:12)",
    ["q | my file (2).js | 1:21", "- | my file (2).js | 1:37", "- | evalmachine.<anonymous> | 1:7", "Script.runInContext | node:vm | 149:12"],
  ],
  "Node: a message of several lines": [
    "Error: Cannot find module './nope'\nRequire stack:\n- /srv/sp ace (1)/main.mjs\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)", ["Module._resolveFilename | node:internal/modules/cjs/loader | 1207:15"],
  ],
  "Node on Windows": [
    "Error: x\n    at Object.<anonymous> (C:\\Users\\Jo (me)\\app\\index.js:3:9)\n    at run (file:///C:/app/main.mjs:1:1)\n    at \\\\server\\share\\a.js:2:3",
    ["Object.<anonymous> | C:\\Users\\Jo (me)\\app\\index.js | 3:9", "run | file:///C:/app/main.mjs | 1:1", "- | \\\\server\\share\\a.js | 2:3"],
  ],
  "Edge (Chakra)": [
    "TypeError: Unable to get property 'a' of undefined or null reference\n   at Cart.prototype.add (https://x.io/app.js:10:5)\n   at Anonymous function (https://x.io/app.js:20:7)\n   at Array.prototype.map (native code)\n   at inner (eval code:1:20)\n   at eval code (eval code:1:1)\n   at anonymous (Function code:2:3)\n   at late (Unknown script code:1:9)\n   at Global code (https://x.io/app.js:40:1)",
    [
      "Cart.prototype.add | https://x.io/app.js | 10:5", "- | https://x.io/app.js | 20:7", "Array.prototype.map | - | - | native", "inner | - | 1:20 | eval", "eval code | - | 1:1 | eval",
      "- | - | 2:3 | eval", "late | - | 1:9 | eval", "- | https://x.io/app.js | 40:1",
    ],
  ],
  "React Native, Hermes in a release": [
    "TypeError: undefined is not a function\n    at onPress (address at index.android.bundle:1:452701)\n    at anonymous (address at /data/user/0/com.shop/files/CodePush/index.android.bundle:1:2345)\n    at ?anon_0_load (address at index.android.bundle:1:77)\n    at next (native)\n    at apply (native)\n    ... skipping 12 frames\n    at global (address at index.android.bundle:1:1)",
    [
      "onPress | index.android.bundle | 1:452701", "- | /data/user/0/com.shop/files/CodePush/index.android.bundle | 1:2345", "?anon_0_load | index.android.bundle | 1:77", "next | - | - | native",
      "apply | - | - | native", "- | index.android.bundle | 1:1",
    ],
  ],
  "React Native, Hermes in development": [
    "Error: x\n    at onPress (http://10.0.2.2:8081/index.bundle?platform=android&dev=true&minify=false:99:13)\n    at _load (http://10.0.2.2:8081/index.bundle//&platform=ios&dev=true:3:5)",
    ["onPress | http://10.0.2.2:8081/index.bundle?platform=android&dev=true&minify=false | 99:13", "_load | http://10.0.2.2:8081/index.bundle//&platform=ios&dev=true | 3:5"],
  ],
  "React Native, JavaScriptCore on Android": ["p@1:132161\nonPress@index.android.bundle:1:2345\ny@1:96\n[native code]\nvalue@1:1328", ["p | - | 1:132161", "onPress | index.android.bundle | 1:2345", "y | - | 1:96", "- | - | - | native", "value | - | 1:1328"]],
  "React Native, JavaScriptCore on iOS": [
    "press@/var/containers/Bundle/Application/0F8FAD5B-D9CB-469F-A165-70867728950E/Shop.app/main.jsbundle:12:3456\nfile:///var/containers/Bundle/Application/0F8FAD5B-D9CB-469F-A165-70867728950E/Shop.app/main.jsbundle:1:2",
    [
      "press | /var/containers/Bundle/Application/0F8FAD5B-D9CB-469F-A165-70867728950E/Shop.app/main.jsbundle | 12:3456",
      "- | file:///var/containers/Bundle/Application/0F8FAD5B-D9CB-469F-A165-70867728950E/Shop.app/main.jsbundle | 1:2",
    ],
  ],
  "Safari: eval": [
    "inner@\neval code@\neval@[native code]\nrun@https://x.io/app.js:7:9\neval code@webpack-internal:///./src/cart.ts:3:4\nglobal code@https://x.io/app.js:9:9",
    ["inner | - | - | eval", "- | - | - | eval", "eval | - | - | native", "run | https://x.io/app.js | 7:9", "- | webpack-internal:///./src/cart.ts | 3:4", "- | https://x.io/app.js | 9:9"],
  ],
  "Safari: WebAssembly": ["<?>.wasm-function[panic]@[wasm code]\nwasm-stub@[wasm code]\nrun@https://x.io/app.js:1:2", ["<?>.wasm-function[panic] | - | - | native", "wasm-stub | - | - | native", "run | https://x.io/app.js | 1:2"]],
  "Safari: names that the oldest printed, an extension, hidden code": [
    "(anonymous function)@https://x.io/app.js:1:2\n@safari-web-extension://A1B2/content.js:1:9\n@webkit-masked-url://hidden/:3:4\ngo@user-script:12:1:3",
    ["- | https://x.io/app.js | 1:2", "- | safari-web-extension://A1B2/content.js | 1:9", "- | webkit-masked-url://hidden/ | 3:4", "go | user-script:12 | 1:3"],
  ],
  "Firefox: WebAssembly, its own code, eval in a Function": [
    "wasm-function[0]@https://x.io/a.wasm:wasm-function[0]:0x20\nmap@self-hosted:123:4\nanonymous@https://x.io/app.js line 5 > Function line 3 > eval:1:1\n@https://x.io/a > b.js:1:2\nrun@https://x.io/app.js:1:2",
    ["- | https://x.io/a.wasm | 1:33", "map | - | - | native", "- | https://x.io/app.js | 5:- | eval", "- | https://x.io/a > b.js | 1:2", "run | https://x.io/app.js | 1:2"],
  ],
  "Firefox: `@` in names and paths": [
    "x@y@https://x.io/@fs/srv/@shop/cart.ts:1:2\nhandlers[\"a@b\"]@https://user@x.io/a.js:3:4\n方法@https://x.io/ü.js:5:6",
    ["x@y | https://x.io/@fs/srv/@shop/cart.ts | 1:2", "handlers[\"a@b\"] | https://user@x.io/a.js | 3:4", "方法 | https://x.io/ü.js | 5:6"],
  ],
};

describe("parseStack", () => {
  it.each(Object.entries(PRINTED))("reads %s", (_, [stack, expected]) => expect(frames(stack)).toEqual(expected));

  it.each([["    at f (https://x.io/a.js:1:1)\n"], ["f@https://x.io/a.js:1:1\n"]])("keeps 100 frames of megabytes of %j, in little memory", (line) => {
    const stack = line.repeat(Math.ceil(2_000_000 / line.length));
    expect(parseStack(stack)).toMatchObject({ truncated: true, frames: { length: 100 } });
  });

  it("keeps the outermost of thousands", () => {
    const lines = Array.from({ length: 7_777 }, (_, at) => `f${at}@https://x.io/a.js:1:1`);
    const kept = parseStack(lines.join("\n")).frames.map((frame) => frame.function);
    expect([kept.length, kept[0], kept[49], kept[50], kept[99]]).toEqual([100, "f0", "f49", "f7727", "f7776"]);
  });

  it("cuts no character in halves", () => {
    const { function: name, file } = parseStack(`${"a".repeat(499)}😀b@https://x.io/${"a".repeat(1_986)}😀.js:1:1`).frames[0]!;
    expect([name, file].map((text) => text!.charCodeAt(text!.length - 1))).toEqual([97, 97]);
  });

  const name = fc.constantFrom("foo", "Cart.add", "new Cart", "方法", "p(q)", "a b", "#pay", "[Symbol.iterator]", "get total [as total]", "x@y");
  const file = fc.constantFrom("https://x.io/a.js", "https://x.io/@s/a(1).js?b=2", "blob:https://x.io/0f8fad5b", "file:///C:/a b.js", "webpack-internal:///(rsc)/./a.tsx", "app:///main.js", "https://x.io:8080/");
  const frame = fc.record({ name, file, line: fc.integer({ min: 1, max: 1e6 }), column: fc.integer({ min: 1, max: 1e6 }) });
  it("reads back what V8 and the others write", () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 20 }), (all) => {
        const expected = all.map((each) => `${each.name} | ${each.file} | ${each.line}:${each.column}`);
        expect(frames(`Error: x\n${all.map((each) => `    at ${each.name} (${each.file}:${each.line}:${each.column})`).join("\n")}`)).toEqual(expected);
        expect(frames(all.map((each) => `${each.name}@${each.file}:${each.line}:${each.column}\n`).join(""))).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  const HOSTILE = ["(", ")", " (", "eval at a (", "@", " > ", " line 1 > eval", ":1:1", ":1", " ", "*", "https://", "async ", ":wasm-function[", "), ", "\u00e9", "at a (b:1:1)\n", "a@b:1:1\n", "a.", "a/", "[as ", "-_."];
  it.each(HOSTILE)("takes eight times as long for eight times as much of %j, not more", (piece) => {
    const fastest = (length: number, open: string, close: string) => {
      const stack = open + piece.repeat(Math.ceil(length / piece.length)) + close;
      return Math.min(...Array.from({ length: 3 }, () => cpuOf(() => parseStack(stack, stack.slice(0, length / 2)))));
    };
    for (const [open, close] of [["at ", ")"], ["at f (", ":1:1)"], ["f@", ":1:1"], ["at f (eval at ", "), <anonymous>:1:1)"]] as const) {
      // Quadratic work would take 64 times as long. The constant is for what a clock shows of nothing.
      expect(fastest(160_000, open, close)).toBeLessThan(24 * fastest(20_000, open, close) + 20_000);
    }
  });
});

/** CPU-µs. */
function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

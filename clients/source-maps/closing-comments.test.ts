import { expect, test } from "vitest";
import { closingComments } from "./closing-comments.ts";

test.each([
  ["a();\n//# sourceMappingURL=a.js.map", "a.js.map"],
  ["a();\n//# sourceMappingURL=a.js.map\n\n", "a.js.map"],
  ["a();\r\n//# sourceMappingURL=a.js.map\r\n", "a.js.map"],
  ["a();//@ sourceMappingURL=a.js.map", "a.js.map"],
  ["a();\n/*# sourceMappingURL=a.css.map */", "a.css.map"],
  ["a();\n//# sourceMappingURL=a.js.map\n//# debugId=1\n// the end", "a.js.map"],
  ["a();\n//# sourceMappingURL=a.js.map\n/* licences\n MIT */\n", "a.js.map"],
  ["//# sourceMappingURL=old.map\na();\n//# sourceMappingURL=a.js.map", "a.js.map"],
  ["a();\n//# sourceMappingURL=data:application/json;base64,e30=", "data:application/json;base64,e30="],
  ["//# sourceMappingURL=old.map\na();", null],
  [`a("//# sourceMappingURL=" + x);`, null],
  [`a('//# sourceMappingURL=a.js.map');`, null],
  ["sourceMappingURL=a.js.map", null],
  ["", null],
])("in %j the map is %j", (script, map) => {
  const found = closingComments(script).map;
  expect(found?.value ?? null).toBe(map);
  if (found) expect(script.slice(found.start, found.end)).toMatch(/^\/[/*].*sourceMappingURL=/);
});

test("it is found in time that grows with the script only", () => {
  const began = performance.now();
  for (const line of ["// a */\n", "/* a */\n", "*/\n", " \n", "//# debugId=\n", "x "]) closingComments(`a()\n${line.repeat(200_000)}`);
  expect(performance.now() - began).toBeLessThan(5_000);
});

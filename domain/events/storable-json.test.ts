import { expect, it } from "vitest";
import { storableJson } from "./storable-json.ts";

it.each([
  { name: "what is fine", text: "Zürich 🚢 \\u0000 \n", expected: "Zürich 🚢 \\u0000 \n" },
  { name: "NUL", text: "a\u0000b", expected: "a\ufffdb" },
  { name: "half a pair", text: "a\ud83d b\udea2", expected: "a\ufffd b\ufffd" },
  { name: "backslashes before it", text: "\\\\\\\u0000", expected: "\\\\\\\ufffd" },
])("keeps text and replaces what cannot be stored: $name", ({ text, expected }) => {
  expect(JSON.parse(storableJson({ [text]: [text] }))).toEqual({ [expected]: [expected] });
});

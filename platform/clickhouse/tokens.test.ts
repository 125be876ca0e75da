import { expect, test } from "vitest";
import { quotedName, splitStatements, stringLiteral, unquotedName } from "./tokens.ts";

test.each([
  ["a; b", ["a", "b"]],
  ["  ;; a ;\n; ", ["a"]],
  ["-- only; a comment", []],
  ["a -- one; two\n, b; /* c; d */ e", ["a -- one; two\n, b", "e"]],
  ["SELECT ';', 'it''s;', '\\';', `;`, \";\"; b", ["SELECT ';', 'it''s;', '\\';', `;`, \";\"", "b"]],
  ["SELECT $$;$$, $tag$ ; $$ ; $tag$; b", ["SELECT $$;$$, $tag$ ; $$ ; $tag$", "b"]],
  ["SELECT 'ü; 🦉'; b", ["SELECT 'ü; 🦉'", "b"]],
  ["SELECT 'never closed; b", ["SELECT 'never closed; b"]],
  ["a # b; c", ["a"]],
])("%j is the statements %j", (script, statements) => {
  expect(splitStatements(script)).toEqual(statements);
});

test("a text in a literal cannot end it", () => {
  expect(stringLiteral("it's \\ \n\t\r\0")).toBe("'it\\'s \\\\ \\n\\t\\r\\0'");
  expect(splitStatements(`SELECT ${stringLiteral("';DROP TABLE t;--\\")}; b`)).toHaveLength(2);
});

test("a name comes out of its quotes as it went in", () => {
  for (const name of ["plain", "with space", "back`tick", "back\\slash", 'quo"te']) expect(unquotedName(quotedName(name))).toBe(name);
  expect(unquotedName('"a""b"')).toBe('a"b');
});

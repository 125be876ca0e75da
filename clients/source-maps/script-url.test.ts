import { homedir } from "node:os";
import { expect, test } from "vitest";
import { scriptUrl, urlPrefixOf } from "./script-url.ts";

test.each([
  ["~", "~/"],
  ["~/", "~/"],
  ["~/static", "~/static/"],
  ["~/static//", "~/static/"],
  [homedir(), "~/"],
  [`${homedir()}/static`, "~/static/"],
  [`${homedir()}s/static`, null],
  ["https://cdn.example/app", "https://cdn.example/app/"],
  ["//cdn.example", "//cdn.example/"],
  ["app:///", "app:///"],
  ["/static", null],
  ["static", null],
  ["C:/static", null],
])("the prefix %s is %s", (text, prefix) => expect(urlPrefixOf(text)).toBe(prefix === "app:///" ? "app:/" : prefix));

test.each([
  ["app.js", "~/app.js"],
  ["a b/ü.js", "~/a%20b/%C3%BC.js"],
  ["50%25 #1?.js", "~/50%2525%20%231%3F.js"],
  ["[id].js", "~/[id].js"],
  ["a\\b.js", "~/a%5Cb.js"],
  ["@scope/a+b~c.js", "~/@scope/a+b~c.js"],
])("the script %s has the address %s", (path, url) => expect(scriptUrl("~/", path)).toBe(url));

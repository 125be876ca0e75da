import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keysOf, storedKey } from "./match-url.ts";

describe("the keys of a script's url", () => {
  it.each([
    ["https://a.example/x/app.js", ["https://a.example/x/app.js", "~/x/app.js"]],
    ["https://a.example/x/app.js?v=3#top", ["https://a.example/x/app.js?v=3#top", "https://a.example/x/app.js", "~/x/app.js"]],
    ["HTTPS://A.Example:8443/X/App.js", ["https://a.example:8443/X/App.js", "~/X/App.js"]],
    ["//cdn.example/app.js", ["//cdn.example/app.js", "~/app.js"]],
    ["app:///main.jsbundle", ["app:///main.jsbundle", "~/main.jsbundle"]],
    ["capacitor://localhost/assets/app.js", ["capacitor://localhost/assets/app.js", "~/assets/app.js"]],
    ["webpack-internal:///./src/a.js", ["webpack-internal:///./src/a.js", "~/src/a.js"]],
    ["file:///srv/app/main.js", ["file:///srv/app/main.js", "~/srv/app/main.js"]],
    ["/srv/app/main.js", ["/srv/app/main.js", "~/srv/app/main.js"]],
    ["./dist/app.js", ["./dist/app.js", "~/dist/app.js"]],
    ["dist/app.js?1", ["dist/app.js?1", "dist/app.js", "~/dist/app.js"]],
    ["~/x/app.js", ["~/x/app.js"]],
    ["https://a.example", ["https://a.example"]],
    ["https://a.example/?q=1", ["https://a.example/?q=1", "https://a.example/"]],
    ["data:text/javascript,throw 1", ["data:text/javascript,throw 1"]],
    ["blob:https://a.example/5f2c", ["blob:https://a.example/5f2c"]],
    [String.raw`C:\app\main.js`, [String.raw`C:\app\main.js`]],
    ["<anonymous>", ["<anonymous>"]],
    ["http://[bad/%zz/app.js", ["http://[bad/%zz/app.js", "~/%zz/app.js"]],
    ["", [""]],
  ])("%s", (url, keys) => {
    expect(keysOf(url)).toEqual(keys);
  });

  it("find a map that was uploaded for the url, for it without its query, or for any host", () => {
    const frame = "https://a.example/x/app.js?v=3";
    for (const uploaded of [" https://a.example/x/app.js?v=3\n", "https://A.example/x/app.js", "~/x/app.js"]) expect(keysOf(frame)).toContain(storedKey(uploaded));
    for (const uploaded of ["https://b.example/x/app.js", "https://a.example/x/app.js?v=4", "~/app.js"]) expect(keysOf(frame)).not.toContain(storedKey(uploaded));
  });

  it("are there for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.tuple(fc.constantFrom("https://a", "//", "~/", "app:", "?", "#"), fc.string()).map(([begin, end]) => begin + end)), (url) => {
        expect(keysOf(url)[0]).toBe(storedKey(url));
      }),
    );
  });
});

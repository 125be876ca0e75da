import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify } from "./classify.ts";
import { stableMessage } from "./stable-message.ts";

/** What every site reports: the wordings of one thing, its category, and the text that they become. */
const NOISE: Record<string, [text: string, category: string, wordings: [type: string, message: string][]]> = {
  "a chunk of webpack": ["Loading a chunk failed", "chunk_load", [
    ["ChunkLoadError", "Loading chunk 7 failed.\n(error: https://x.io/static/js/7.3f2a9c1b.chunk.js)"], ["ChunkLoadError", "Loading chunk checkout failed.\n(timeout: https://cdn.x.io/checkout.a1b2c3d4e5f6.js)"],
    ["ChunkLoadError", "Loading chunk src_pages_Cart_tsx failed.\n(missing: https://x.io/src_pages_Cart_tsx.js)"], ["Error", "Loading CSS chunk 12 failed.\n(/static/css/12.0a1b2c3d.chunk.css)"], ["ChunkLoadError", "Loading CSS chunk 3 failed.\n(error: /3.css)"],
    ["Error", "Uncaught (in promise) ChunkLoadError: Loading chunk 4 failed."],
  ]],
  "a module": ["Importing a module failed", "chunk_load", [
    ["TypeError", "Failed to fetch dynamically imported module: https://x.io/assets/Cart-B3xYaK9q.js"], ["TypeError", "error loading dynamically imported module: https://x.io/assets/Cart-7hPq_x2-.js"], ["TypeError", "Importing a module script failed."],
    ["TypeError", "Failed to fetch dynamically imported module: http://localhost:5173/src/Cart.tsx?t=1700000000"],
  ]],
  "a style sheet of Vite": ["Preloading CSS failed", "chunk_load", [["Error", "Unable to preload CSS for /assets/Cart-B3xYaK9q.css"], ["Error", "Unable to preload CSS for /assets/Page-7hPq_x2-.css"]]],
  "a ResizeObserver": ["ResizeObserver loop", "javascript", [["Error", "ResizeObserver loop limit exceeded"], ["Error", "ResizeObserver loop completed with undelivered notifications."], ["Error", "Uncaught ResizeObserver loop limit exceeded"]]],
  "an error of another origin's script": ["Script error", "security", [["Error", "Script error."], ["Error", "Script error"]]],
  "a frame of another origin": ["Access to a frame of another origin", "security", [
    ["SecurityError", "Blocked a frame with origin \"https://x.io\" from accessing a cross-origin frame."],
    ["SecurityError", "Failed to read a named property 'document' from 'Window': Blocked a frame with origin \"https://x.io\" from accessing a cross-origin frame."],
    ["SecurityError", "Blocked a frame with origin \"https://x.io\" from accessing a frame with origin \"https://y.io\". Protocols, domains, and ports must match."],
    ["Error", "Permission denied to access property \"document\" on cross-origin object"],
  ]],
};

describe("stableMessage", () => {
  it.each(Object.entries(NOISE))("is one for %s", (_, [text, category, wordings]) => {
    for (const [type, message] of wordings) expect([stableMessage(message), classify({ kind: "error", type, message })]).toEqual([text, category]);
  });

  it.each(["reload failed items", "The loading chunk of 7 failed", "A script error. It was mine", "my ResizeObserver loop", "Script error. In line 4"])("keeps %j", (message) => {
    expect(stableMessage(message)).toBe(message.replace(/\d/, "<number>"));
  });

  const piece = fc.constantFrom("'", "\"", "`", "“", "a", "é", "1", ":", "::", ".", "@", "https://", "/", "-", "T", "Z", "Jan", " ", "<date>", "0x", "Loading chunk ", " failed", "\ud800");
  const anyText = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
  it("takes any text", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(""))), (text) => {
        expect(stableMessage(text)).not.toMatch(/^\s|\s$/);
      }),
      { numRuns: 500 },
    );
  });

  it("has no number, whichever it was", () => {
    const replaced = "order <number> of <uuid> from <ip> at <url> failed";
    fc.assert(fc.property(fc.nat(), fc.uuid(), fc.nat(), fc.ipV4(), (number, uuid, page, ip) => stableMessage(`order ${number} of ${uuid} from ${ip} at https://x.io/${page}?p=${number} failed`) === replaced));
  });

  it.each(["'a", "'a ", "\"'", "1:", "a@", "::", "1.", "1,", "Jan 1 ", "<date> ", "a+", "https://", "é'", "Loading chunk ", ": ", "-", "0x"])("takes eight times as long for eight times as much of %j, not more", (text) => {
    const fastest = (times: number) => Math.min(...Array.from({ length: 3 }, () => cpuOf(() => stableMessage(text.repeat(times)))));
    expect(fastest(16_000)).toBeLessThan(24 * fastest(2_000) + 20_000);
  });
});

/** CPU-µs. */
function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

import { describe, expect, it } from "vitest";
import { classify, firstPriority } from "./classify.ts";

describe("classify", () => {
  it.each([
    ["TypeError", "x is not a function", "javascript"], ["TypeError", "Failed to fetch", "network"], ["TypeError", "NetworkError when attempting to fetch resource.", "network"], ["TypeError", "Load failed", "network"],
    ["ChunkLoadError", "Loading chunk 7 failed.", "chunk_load"], ["TypeError", "Failed to fetch dynamically imported module: https://x.io/a.js", "chunk_load"], ["TypeError", "Importing a module script failed.", "chunk_load"],
    ["TypeError", "error loading dynamically imported module: https://x.io/a.js", "chunk_load"], ["SecurityError", "Blocked a frame with origin", "security"], ["Error", "Failed to load resource: 404", "resource"],
    ["Error", "Uncaught (in promise) nope", "promise"], ["UnhandledRejection", "nope", "promise"], ["Error", "reload failed items", "javascript"],
  ] as const)("calls %s: %s %s", (type, message, category) => expect(classify({ kind: "error", type, message })).toBe(category));

  it("calls a message a message", () => expect(classify({ kind: "message", type: "Message", message: "Failed to fetch" })).toBe("message"));

  it("puts what was not handled first", () => {
    expect([firstPriority("javascript", false), firstPriority("javascript", true), firstPriority("network", false), firstPriority("network", true), firstPriority("message", true)]).toEqual(["high", "medium", "medium", "low", "low"]);
  });
});

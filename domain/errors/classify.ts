import type { ErrorCategory, Priority } from "../../schemas/vocabulary.ts";

const CHUNK = [
  "loading chunk", "loading css chunk", "dynamically imported module", "importing a module script failed", "chunkloaderror", "unable to preload css",
  "is not a valid javascript mime type", "failed to load module script",
];
const SECURITY = ["blocked a frame with origin", "content security policy", "cross-origin frame", "permission denied to access property", "operation is insecure"];
const NETWORK = [
  "failed to fetch", "networkerror when attempting to fetch", "network request failed", "network error", "net::err_", "err_network",
  "econnrefused", "econnreset", "enotfound", "etimedout", "the network connection was lost", "the internet connection appears to be offline", "fetch failed",
];
const RESOURCE = ["failed to load resource", "error loading script", "failed to load script", "failed to load image", "failed to load stylesheet"];
const PROMISE = ["(in promise)", "unhandled promise rejection", "unhandledrejection", "unhandled rejection", "non-error promise rejection"];

const NETWORK_TYPES = new Set(["NetworkError", "AxiosError", "FetchError", "TimeoutError"]);

/** What kind of failure an event tells of, by its type and by the words that browsers and bundlers use for it. */
export function classify(event: { kind: "error" | "message"; type: string; message: string }): ErrorCategory {
  if (event.kind === "message") return "message";
  const { type } = event;
  // The words stand near the beginning; a long message is not searched to its end.
  const message = event.message.slice(0, 1_000).toLowerCase();
  const says = (words: string[]) => words.some((word) => message.includes(word));
  if (type === "ChunkLoadError" || says(CHUNK)) return "chunk_load";
  // All that a browser tells of an error in another origin's script.
  if (message === "script error." || message === "script error") return "security";
  if (type === "SecurityError" || type === "SecurityPolicyViolation" || says(SECURITY)) return "security";
  // Safari's whole message for a failed fetch.
  if (NETWORK_TYPES.has(type) || says(NETWORK) || message === "load failed") return "network";
  if (type === "ResourceError" || says(RESOURCE)) return "resource";
  return type === "UnhandledRejection" || says(PROMISE) ? "promise" : "javascript";
}

/** The priority of a signature by its kind alone; `judge-priorities.ts` raises it when many sessions meet it. */
export function firstPriority(category: ErrorCategory, handled: boolean): Priority {
  if (category === "message") return "low";
  const passing = category === "network" || category === "resource" || category === "security";
  if (handled) return passing ? "low" : "medium";
  return passing ? "medium" : "high";
}

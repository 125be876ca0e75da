import { leaveOut } from "./normalise-error.ts";
import { addBreadcrumb, captureError, captureMessage, close, flush, init, setTag, setUser, type PharosOptions } from "./pharos.ts";

const api = { init, captureError, captureMessage, addBreadcrumb, setUser, setTag, flush, close };

declare global {
  interface Window {
    Pharos: typeof api;
  }
}

/** What the tag's data attributes say: `data-release="1.4.0"`, `data-console="true"`, `data-vitals="false"`. An empty one says nothing. */
function optionsOf({ src, dataset }: HTMLScriptElement): PharosOptions {
  const given = Object.entries(dataset).map(([name, value]) => [name, value !== "false" && (value || undefined)]);
  const { url = src.replace(/\/sdk\/[^/]*$/, ""), ...rest } = Object.fromEntries(given) as PharosOptions;
  return { ...rest, url };
}

// A tag that stands in the page twice runs once.
if (!window.Pharos) {
  window.Pharos = api;
  const tag = document.currentScript as HTMLScriptElement | null;
  if (tag?.src) {
    leaveOut(tag.src);
    if (tag.dataset.key) init(optionsOf(tag));
  }
}

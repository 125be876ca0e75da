import { listen, options, shown } from "./page.ts";
import { factsOf, reportSome } from "./report.ts";

/** Reports what nothing in the page catches from now on. */
export function watchErrors(): void {
  let withoutDetails = 0;

  listen("error", (event) => {
    const { error, message, filename, lineno, colno, target } = event as ErrorEvent;
    if (target !== window) {
      const { tagName, src, href } = target as HTMLScriptElement & HTMLLinkElement;
      if (options!.resources) reportSome(() => ({ type: "error", error_type: "ResourceError", message: `Failed to load ${tagName.toLowerCase()}: ${shown(src || href)}`, handled: false }));
      return;
    }
    // "Script error." of another origin's script: all of them look the same, whatever went wrong.
    if (!error && !filename && withoutDetails++) return;
    reportSome(() => ({ stack: filename && `at ${filename}:${lineno}:${colno}`, ...factsOf(error ?? message, "Error", { handled: false }) }));
  });
  listen("unhandledrejection", (event) => {
    reportSome(() => factsOf((event as PromiseRejectionEvent).reason, "UnhandledRejection", { handled: false }));
  });
}

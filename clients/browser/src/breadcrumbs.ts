import type { Breadcrumb } from "./event.ts";
import { LONGEST_BREADCRUMB, LONGEST_BREADCRUMB_MESSAGE, MAX_BREADCRUMBS } from "./limits.ts";
import { after, guarded, listen, options, shown } from "./page.ts";

/** The last so many, oldest first. */
export const breadcrumbs: Breadcrumb[] = [];

/** What is added is copied: it may be changed afterwards, or be nothing that JSON can hold. */
export function note(breadcrumb: Breadcrumb): void {
  const { category, message } = breadcrumb;
  const timestamp = Date.now();
  const text = JSON.stringify({ timestamp, ...breadcrumb });
  breadcrumbs.push(text.length > LONGEST_BREADCRUMB ? { timestamp, category, message: message?.slice(0, LONGEST_BREADCRUMB_MESSAGE) } : (JSON.parse(text) as Breadcrumb));
  if (breadcrumbs.length > Math.min(options!.breadcrumbs ?? 30, MAX_BREADCRUMBS)) breadcrumbs.shift();
}

/** Notes clicks, navigation, requests and, when wanted, the console from now on. */
export function recordBreadcrumbs(): void {
  listen("click", ({ target }) => note({ category: "click", message: selectorOf(target as Element) }));

  const navigated = () => note({ category: "navigation", message: shown(location.href) });
  listen("popstate", navigated);
  after(history, "pushState", navigated);

  const requested = (category: string, method: unknown, url: unknown, status: number) => note({ category, message: `${method as string} ${shown(String(url))}`, data: { status } });
  after(window, "fetch", (asked, [input, init]) => {
    const { url = input, method = "GET" } = input as Partial<Request>;
    const answered = guarded((status: number) => requested("fetch", (init as RequestInit | undefined)?.method ?? method, url, status));
    // In its place and not beside it: a promise that somebody listens to would no longer count as unhandled.
    return (asked as Promise<Response>).then(
      (response) => {
        answered(response.status);
        return response;
      },
      (error: unknown) => {
        answered(0);
        throw error;
      },
    );
  });
  after(XMLHttpRequest.prototype, "open", (_, [method, url], self) => {
    const request = self as XMLHttpRequest;
    request.addEventListener("loadend", guarded(() => requested("xhr", method, url, request.status)), { once: true });
  });

  if (!options!.console) return;
  for (const level of ["log", "info", "warn", "error"]) after(console, level, (_, given) => note({ category: "console", message: given.join(" "), data: { level } }));
}

/** `form#pay > button.primary`: no text and no values, which may be a visitor's. */
function selectorOf(element: Element): string {
  const steps: string[] = [];
  for (let at: Element | null = element; at && steps.length < 3; at = at.parentElement) steps.unshift(at.tagName.toLowerCase() + (at.id && `#${at.id}`) + ["", ...at.classList].join("."));
  return steps.join(" > ");
}

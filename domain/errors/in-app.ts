/** Schemes and prefixes of code that is not the page's own: extensions, and the parts of Node. */
const FOREIGN_PREFIXES = [
  "chrome-extension:", "moz-extension:", "safari-extension:", "safari-web-extension:", "ms-browser-extension:", "webkit-masked-url:",
  "edge-extension:", "opera-extension:", "chrome:", "chrome-untrusted:", "devtools:", "edge:", "resource:", "safari-resource:", "user-script:", "extensions::",
  "node:", "internal/",
];

/** Folders of libraries, as they stand in URLs, in paths of any system and in bundlers' own schemes. */
const LIBRARY_FOLDERS = new Set(["node_modules", "bower_components", "jspm_packages", "vendor", "vendors", "~", "@vite"]);

/** Hosts that serve other people's scripts. A site's own CDN is not among them: that is where its code lives. */
const LIBRARY_HOSTS = new Set([
  "cdnjs.cloudflare.com", "cdn.jsdelivr.net", "unpkg.com", "esm.sh", "cdn.skypack.dev", "ga.jspm.io", "ajax.googleapis.com", "ajax.aspnetcdn.com",
  "code.jquery.com", "stackpath.bootstrapcdn.com", "maxcdn.bootstrapcdn.com", "cdn.polyfill.io", "polyfill.io", "www.googletagmanager.com",
  "www.google-analytics.com", "ssl.google-analytics.com", "connect.facebook.net", "js.stripe.com", "static.hotjar.com", "script.hotjar.com",
  "browser.sentry-cdn.com", "js.sentry-cdn.com", "cdn.segment.com", "widget.intercom.io", "js.intercomcdn.com", "www.gstatic.com", "apis.google.com",
  "static.cloudflareinsights.com", "challenges.cloudflare.com", "bat.bing.com", "platform.twitter.com", "js.hs-scripts.com",
]);

/** Whether a frame's file is the application's own code, as against a library, an extension or the runtime. */
export function isInApp(file: string): boolean {
  if (FOREIGN_PREFIXES.some((prefix) => file.startsWith(prefix))) return false;
  const host = hostOf(file);
  if (host !== "" && LIBRARY_HOSTS.has(host)) return false;
  const path = file.split(/[?#]/, 1)[0]!;
  const steps = path.split(/[/\\]/);
  const name = steps.pop()!;
  return !steps.some((step) => LIBRARY_FOLDERS.has(step)) && !isVendorBundle(name.toLowerCase());
}

/** `vendor.3f2a9c.js`, `vendors~main.js`, `chunk-vendors.js`, `node_modules_react.js`, `polyfills-3f2a9c1b.js`, `react-dom.production.min.js`, `jquery-3.6.0.min.js`. */
function isVendorBundle(name: string): boolean {
  if (name.startsWith("node_modules_") || name.startsWith("chunk-vendors.") || name.endsWith(".production.min.js")) return true;
  if (/^jquery(?:-[\d.]{1,20})?(?:\.slim)?(?:\.min)?\.js$/.test(name)) return true;
  return ["vendor", "vendors", "polyfills"].some((word) => name.startsWith(word) && ".-~_".includes(name.charAt(word.length) || "x"));
}

function hostOf(file: string): string {
  const start = file.indexOf("://");
  if (start === -1) return "";
  const end = file.indexOf("/", start + 3);
  const authority = file.slice(start + 3, end === -1 ? file.length : end).toLowerCase();
  return authority.slice(authority.lastIndexOf("@") + 1).split(":", 1)[0]!;
}

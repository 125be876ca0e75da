import { times, waysOf } from "./way.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
const subscribe = (body: object) => JSON.stringify(body);

export const PAGE_WAYS = waysOf("pages and designs", "pro", [
  ["a script in a template", /^400 .*INVALID_DESIGN/, ({ call, page_id: id }) => call("PUT", `/status-pages/${id}/design/draft`, { template_mode: "custom", template: { html: "<script>alert(1)</script>" } })],
  ["a template of ten thousand nested elements", /^(200|400|403) /, ({ call, page_id: id }) => call("POST", `/status-pages/${id}/design/draft/validate`, { template: { html: `${"<div>".repeat(10_000)}x` } })],
  ["a template of unclosed comments and quotes", /^(200|400|403) /, ({ call, page_id: id }) => call("POST", `/status-pages/${id}/design/draft/validate`, { template: { html: "<!--<a title='\"".repeat(4_000) } })],
  ["CSS that imports", /^(400|403) /, ({ call, page_id: id }) => call("PATCH", `/status-pages/${id}`, { custom_css: "@import 'https://evil.example/x.css';" })],
  ["CSS of thirty thousand brackets", /^(200|400|403) /, ({ call, page_id: id }) => call("PATCH", `/status-pages/${id}`, { custom_css: "a{".repeat(30_000) })],
  ["CSS that ends the style element", /^(400|403) /, ({ call, page_id: id }) => call("PATCH", `/status-pages/${id}`, { custom_css: "</style><script>alert(1)</script>" })],
  ["a page on somebody else's domain", /^(200|403) /, ({ call, page_id: id }) => call("PATCH", `/status-pages/${id}`, { custom_domain: "status.example.com" })],
  ["a password of one character", /^(400|403) /, ({ call, page_id: id }) => call("PATCH", `/status-pages/${id}`, { status_page_password: "x", status_page_visibility: "password" })],
  ["an announcement of eleven thousand characters", /^400 /, ({ call, page_id: id }) => call("PATCH", `/status-pages/${id}`, { announcement_text: "x".repeat(11_000) })],
  ["a thousand services on a page", /^(400|403|404) /, ({ call, page_id: id }) => call("PUT", `/status-pages/${id}/services`, { service_ids: Array.from({ length: 1_000 }, () => "5c1f8f6e-1111-4222-8333-444455556666") })],
  ["a preview with a made-up token", /^(200|404) /, ({ ask }) => ask("GET", "/pages/demo?preview=1798675200.AAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
  ["a language of ten thousand characters", /^(200|431) /, ({ ask }) => ask("GET", "/pages/demo", undefined, { "accept-language": "de;q=0.1,".repeat(1_100) })],
  ["page names that are none, two hundred at once", /^404 /, ({ ask }) => times(200, (n) => ask("GET", `/pages/there-is-none-${n}`))],
  ["a subscriber's webhook into the private network", /^4\d\d /, ({ ask }) => ask("POST", "/pages/demo/subscribers", subscribe({ webhook_url: "https://10.0.0.1/hook" }))],
  ["an address that is two lines", /^4\d\d /, ({ ask }) => ask("POST", "/pages/demo/subscribers", subscribe({ email: "a@example.com\r\nBcc: b@example.com" }))],
  ["two hundred subscriptions of others' addresses", /^(200|202|4\d\d|503) /, ({ ask }) => times(200, (n) => ask("POST", "/pages/demo/subscribers", subscribe({ email: `victim${n}@example.com` })))],
  ["a form of ten thousand fields", /^4\d\d /, ({ ask }) => ask("POST", "/pages/demo/subscribers", Array.from({ length: 10_000 }, (_, n) => `services=${n}`).join("&"), FORM)],
]);

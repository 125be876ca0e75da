import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import { Message } from "./message.tsx";

const linked = (address: string) => `<a href="${address}" rel="nofollow noopener">${address}</a>`;

it.each([
  { text: "All is well.", html: "All is well." },
  { text: "See https://status.example/x.", html: `See ${linked("https://status.example/x")}.` },
  { text: "(https://a.example), http://b.example!", html: `(${linked("https://a.example")}), ${linked("http://b.example")}!` },
  { text: "https://en.example/wiki/A_(b) and more", html: `${linked("https://en.example/wiki/A_(b)")} and more` },
  { text: "https://a.example/?q=1&r=2", html: linked("https://a.example/?q=1&amp;r=2") },
  { text: "javascript:alert(1) data:text/html,x ftp://a.example https://", html: "javascript:alert(1) data:text/html,x ftp://a.example https://" },
  { text: `https://a.example/"onmouseover="x`, html: `${linked("https://a.example/")}&quot;onmouseover=&quot;x` },
  { text: "https://a.example/<script>", html: `${linked("https://a.example/")}&lt;script>` },
])("$text", ({ text, html }) => {
  expect(renderToString(h(Message, { text }))).toBe(`<p class="message">${html}</p>`);
});

it.each([".", ")", "”"])("takes time linear in an address that is made of %j", (text) => {
  const before = process.cpuUsage();
  renderToString(h(Message, { text: `http://${text.repeat(100_000)}a` }));
  // Quadratic work takes many seconds; the bound leaves room for a slow machine.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(500);
});

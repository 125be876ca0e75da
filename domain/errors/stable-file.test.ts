import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isInApp } from "./in-app.ts";
import { stableFile } from "./stable-file.ts";

const HEX = "0123456789abcdef".split("");
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".split("");
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("");
const random = (alphabet: string[], length: number) => fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((all) => all.join(""));
const uuid = fc.uuid();

/** Names as bundlers and servers write them: `#` stands for the hash. */
const HASHED: [written: string, hash: fc.Arbitrary<string>, stable: string][] = [
  ["https://x.io/static/js/main.#.chunk.js", random(HEX, 8), "/static/js/main.chunk.js"],
  ["https://x.io/js/app.#.js", random(HEX, 20), "/js/app.js"],
  ["https://x.io/js/app-#.bundle.js", random(HEX, 32), "/js/app.bundle.js"],
  ["https://x.io/#.js", random(HEX, 20), "/*.js"],
  ["https://x.io/#/app.js", random(HEX, 40), "/*/app.js"],
  ["https://x.io/_next/static/chunks/app/(shop)/page-#.js", random(HEX, 16), "/_next/static/chunks/app/(shop)/page.js"],
  ["https://x.io/_next/static/chunks/4821-#.js", random(HEX, 16), "/_next/static/chunks/4821.js"],
  ["https://x.io/_next/static/#/_buildManifest.js", random(BASE64, 21), "/_next/static/*/_buildManifest.js"],
  ["https://x.io/_next/static/chunks/src_app_page_tsx_#._.js", random(HEX, 6), "/_next/static/chunks/src_app_page_tsx._.js"],
  ["https://x.io/_next/static/chunks/#.js", random(HEX, 16), "/_next/static/chunks/*.js"],
  ["https://x.io/assets/app-#.js?v=2#top", random(HEX, 8), "/assets/app.js"],
  ["file:///var/containers/Bundle/Application/#/Shop.app/main.jsbundle", uuid, "/var/containers/Bundle/Application/*/Shop.app/main.jsbundle"],
  ["blob:https://x.io/#", uuid, "/*"],
  ["https://x.io/worker-#.js", uuid, "/worker.js"],
];

describe("stableFile", () => {
  it.each(HASHED)("of %s is the same for every hash", (written, hash, stable) => {
    fc.assert(fc.property(hash, (text) => stableFile(written.replace("#", text)) === stable), { numRuns: 200 });
  });

  // A hash of letters and digits can come out like a word, as `useState` is one: such a build makes a signature of its own.
  it.each([
    ["esbuild's and Angular's", "https://x.io/chunk-#.js", BASE32, "/chunk.js", 0.001],
    ["Vite's and Rollup's", "https://x.io/assets/index-#.js", BASE64, "/assets/index.js", 0.02],
    ["SvelteKit's", "https://x.io/_app/immutable/entry/start.#.js", BASE64, "/_app/immutable/entry/start.js", 0.02],
    ["Nuxt's", "https://x.io/_nuxt/#.js", BASE64, "/_nuxt/*.js", 0.06],
  ] as [string, string, string[], string, number][])("knows nearly all of %s hashes", (_, written, alphabet, stable, most) => {
    const hashes = fc.sample(random(alphabet, 8), { numRuns: 3_000, seed: 7 });
    expect(hashes.filter((hash) => stableFile(written.replace("#", hash)) !== stable).length / hashes.length).toBeLessThan(most);
  });

  const WORDS = (
    "account address article basket billing browser calendar campaign category checkout comments component confirm customer dashboard delivery designer discount document download " +
    "editor elements explorer favorites feedback features firstpage gallery graphics highlight homepage importer inventory invoice keyboard language messages navigation notebook " +
    "notifications onboarding orderlist overview passwords payments platform playback products profile progress promotion purchase register reporting resource scheduler settings " +
    "shipping shortcuts standard statistics template timeline tutorial upgrades userlist validation vocabulary warehouse whatever wishlist workflow facade decade " +
    "bootstrap jquery lodash polyfill runtime webworker serviceworker httpclient"
  ).split(" ");
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  // Eight letters from a to f are a hash, as `deadbeef` is one.
  const word = fc.constantFrom(...WORDS.filter((text) => !/^[a-f]+$/.test(text)));
  const NAMES = [
    "MyButton", "UserList", "NavItems", "useState", "httpOnly", "AppStore", "Html5Parser", "Html5Css3Parser2", "XMLUtils", "Base64Url", "bootstrap5", "es2015", "i18n", "utf8", "sha256",
    "XMLHttpRequest", "d3charts", "k8sutils", "CHECKOUT", "README", "mp4tools",
  ];
  it("takes no word for a hash, as a name, a folder or a part of a name", () => {
    for (const name of [...NAMES, ...WORDS, ...WORDS.map(capital), ...WORDS.map((text) => text.toUpperCase())]) {
      expect(stableFile(`https://x.io/src/${name}.js`)).toBe(`/src/${name}.js`);
      expect(stableFile(`https://x.io/src/${name}/cart.ts`)).toBe(`/src/${name}/cart.ts`);
      expect(stableFile(`https://x.io/src/${name}.page.js`)).toBe(`/src/${name}.page.js`);
    }
    fc.assert(
      fc.property(word, word, fc.constantFrom("-", ".", "_"), (one, two, between) => {
        for (const name of [`${one}${between}${two}`, `${one}${between}${capital(two)}`, `${one}${capital(two)}`, `${capital(one)}${capital(two)}`, `${one}${two}`]) expect(stableFile(`/src/${name}.js`)).toBe(`/src/${name}.js`);
      }),
    );
  });

  it.each([
    ["webpack://shop/./src/cart.ts", "/./src/cart.ts"], ["webpack-internal:///./src/cart.ts?1a2b", "/./src/cart.ts"], ["webpack-internal:///(rsc)/./app/page.tsx", "/(rsc)/./app/page.tsx"],
    ["app:///main.js", "/main.js"], ["capacitor://localhost/assets/app.js", "/assets/app.js"], ["ionic://localhost/main.js", "/main.js"], ["http://localhost:8081/index.bundle?platform=ios&dev=true", "/index.bundle"],
    ["http://10.0.2.2:8081/index.bundle//&platform=ios&dev=true", "/index.bundle"], ["index.android.bundle", "index.android.bundle"], ["C:\\Users\\me\\app\\main.js", "C:/Users/me/app/main.js"],
    ["https://cdn.x.io/shop/1.2.3/cart.js", "/shop/*/cart.js"], ["https://cdn.x.io/shop/v1.2.3-rc.1/cart.js", "/shop/*/cart.js"], ["https://x.io/api/v1/cart.js", "/api/v1/cart.js"],
    ["https://unpkg.com/react@18.2.0/umd/react.js", "/react@*/umd/react.js"], ["https://unpkg.com/@scope/lib@2/a.js", "/@scope/lib@*/a.js"], ["https://x.io/lib/jquery-3.6.0.min.js", "/lib/jquery-3.6.0.min.js"],
    ["https://x.io/_nuxt/B-x_3kq9.js", "/_nuxt/*.js"], ["https://x.io/main-7SX3ABQK.js", "/main.js"], ["https://x.io/src/my-Pages.js", "/src/my-Pages.js"], ["", ""],
  ])("of %s is %s", (file, stable) => expect(stableFile(file)).toBe(stable));

  it("takes any text", () => {
    const anyText = fc.array(fc.nat(0xffff), { maxLength: 300 }).map((codes) => String.fromCharCode(...codes));
    fc.assert(fc.property(anyText, (text) => typeof stableFile(text) === "string"));
  });
});

describe("isInApp", () => {
  it.each([
    "edge-extension://abc/a.js", "extensions::SafeBuiltins", "user-script:12", "chrome-extension://abc/a.js", "moz-extension://abc/a.js", "safari-web-extension://abc/a.js", "devtools://devtools/a.js", "https://x.io/assets/vendor-B3xYaK9q.js",
    "https://x.io/assets/polyfills-3f2a9c1b.js", "https://x.io/js/chunk-vendors.3f2a9c1b.js", "https://x.io/js/jquery-3.6.0.min.js", "https://x.io/js/react-dom.production.min.js", "http://localhost:5173/@vite/client",
    "http://localhost:5173/node_modules/.vite/deps/react.js?v=1", "C:\\app\\node_modules\\a\\b.js", "webpack:///./~/react/index.js", "https://cdn.jsdelivr.net/npm/vue@3/dist/vue.js", "node:internal/timers",
  ])("is not %s", (file) => expect(isInApp(file)).toBe(false));

  it.each(["https://x.io/app.js", "https://cdn.x.io/app.js", "app:///main.js", "webpack-internal:///./src/cart.ts", "index.android.bundle", "https://x.io/vendoring.js", "https://x.io/jquery.cart.js", "https://x.io/extensions/a.js"])("is %s", (file) => expect(isInApp(file)).toBe(true));
});

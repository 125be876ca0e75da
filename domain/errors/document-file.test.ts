import { expect, it } from "vitest";
import { isDocument } from "./document-file.ts";

it.each([
  ["https://shop.example", true],
  ["https://shop.example.js", true],
  ["https://shop.example/", true],
  ["https://shop.example/cart", true],
  ["https://shop.example/cart?step=2#pay.js", true],
  ["https://shop.example/a.js/cart", true],
  ["http://localhost:8080/index.html", true],
  ["https://shop.example/cart.php?id=3", true],
  ["file:///srv/kiosk/index.html", true],
  ["https://shop.example/app.js", false],
  ["https://shop.example/app.min.js?v=3", false],
  ["https://shop.example/app.mjs", false],
  ["https://shop.example/src/App.vue?t=17", false],
  ["http://localhost:8081/index.bundle?platform=ios", false],
  ["http://localhost:8081/index.bundle//&platform=ios", false],
  ["file:///srv/kiosk/main.js", false],
  ["/srv/app/server", false],
  ["C:\\kiosk\\server", false],
  ["index.android.bundle", false],
  ["webpack-internal:///./src/cart", false],
  ["blob:https://shop.example/0f8fad5b-d9cb-469f-a165-70867728950e", false],
  ["data:text/javascript,throw 1", false],
])("whether %s is a page: %s", (file, expected) => expect(isDocument(file)).toBe(expected));

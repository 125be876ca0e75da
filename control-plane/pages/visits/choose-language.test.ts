import { expect, it } from "vitest";
import { chooseLanguage } from "./choose-language.ts";

it.each([
  { wish: undefined, chosen: null, gets: "de" },
  { wish: "", chosen: null, gets: "de" },
  { wish: "fr-CH, fr;q=0.9, en;q=0.8", chosen: null, gets: "fr" },
  { wish: "xx, ja;q=0.3, sv;q=0.7", chosen: null, gets: "sv" },
  { wish: "en;q=0, it", chosen: null, gets: "it" },
  { wish: "zh-TW", chosen: null, gets: "zh-CN" },
  { wish: "pt-PT,pt;q=0.9", chosen: null, gets: "pt-BR" },
  { wish: "nn-NO", chosen: null, gets: "nb" },
  { wish: "*", chosen: null, gets: "de" },
  { wish: "xx;q=1, *;q=0.5, fr;q=0.1", chosen: null, gets: "de" },
  { wish: "EN-us", chosen: null, gets: "en" },
  { wish: ";;;,,q=1,fr;q=high", chosen: null, gets: "de" },
  { wish: "fr", chosen: "he", gets: "he" },
  { wish: "fr", chosen: "klingon", gets: "fr" },
  { wish: "fr", chosen: "__proto__", gets: "fr" },
  { wish: "constructor", chosen: null, gets: "de" },
])("a page in German is shown to $wish, $chosen in $gets", ({ wish, chosen, gets }) => {
  expect(chooseLanguage("de", { chosen, accepted: wish })).toBe(gets);
});

import { PAGE_LANGUAGES, type PageLanguage } from "../../../schemas/vocabulary.ts";

/**
 * The language to show a page in (RFC 9110, 12.5.4; RFC 4647 lookup): what the visitor chose on the page, else the most wanted of
 * `Accept-Language` that is shipped, else the page's own. Pure.
 */
export function chooseLanguage(own: PageLanguage, { chosen, accepted }: { chosen: string | null; accepted: string | undefined }): PageLanguage {
  const picked = chosen === null ? null : shipped(chosen);
  if (picked) return picked;
  for (const range of byWish(accepted ?? "")) {
    if (range === "*") return own;
    const found = shipped(range);
    if (found) return found;
  }
  return own;
}

/** More than anybody reads; what follows is ignored. */
const MOST_RANGES = 20;

function byWish(accepted: string): string[] {
  const ranges = accepted.split(",", MOST_RANGES).map((part) => {
    const [range = "", ...parameters] = part.split(";").map((each) => each.trim());
    const weight = parameters.find((each) => each.startsWith("q="));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  return ranges.filter(({ range, weight }) => range !== "" && weight > 0).sort((one, other) => other.weight - one.weight).map(({ range }) => range);
}

/** Norwegian comes under three names, and whoever reads another Portuguese or Chinese reads ours rather than none. */
const OTHER_NAMES: ReadonlyMap<string, PageLanguage> = new Map([["no", "nb"], ["nn", "nb"], ["pt", "pt-BR"], ["zh", "zh-CN"], ["iw", "he"]]);

/** The shipped language of a tag: the whole, else its language alone. */
function shipped(tag: string): PageLanguage | null {
  const [language = ""] = tag.toLowerCase().split("-");
  const find = (wanted: string) => PAGE_LANGUAGES.find((each) => each.toLowerCase() === wanted);
  return find(tag.toLowerCase()) ?? find(language) ?? OTHER_NAMES.get(language) ?? null;
}

import axe from "axe-core";
import type { Page } from "playwright-core";

/** WCAG 2.2, levels A and AA, and what else is wise. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Rules of axe that a page breaks, with the elements that do; what is folded is opened first. `rules` are judged besides. */
export async function violationsIn(tab: Page, rules: string[] = []): Promise<string[]> {
  await tab.evaluate(axe.source);
  for (const details of await tab.locator("details").all()) await details.evaluate((element) => element.setAttribute("open", ""));
  const found = await tab.evaluate(
    async ([tags, rules]) => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ["violations"], runOnly: { type: "tag", values: tags! }, rules: Object.fromEntries(["target-size", ...rules!].map((rule) => [rule, { enabled: true }])) });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 150)} ${failureSummary}`));
    },
    [TAGS, rules],
  );
  return found;
}

/** Which element has the focus, and whether that can be seen. */
export function focused(tab: Page): Promise<{ at: number; text: string; outlined: boolean }> {
  return tab.evaluate(() => {
    const element = document.activeElement!;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return { at: [...document.querySelectorAll("*")].indexOf(element), text: (element.textContent ?? "").trim().slice(0, 40), outlined: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2 };
  });
}

/** In the browser: the contrast of each kind of bar with what is behind it. */
export function barContrasts(): number[] {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  const light = (color: string) => channels(color).reduce((sum, channel, n) => sum + [0.2126, 0.7152, 0.0722][n]! * ((channel / 255 + 0.055) / 1.055) ** 2.4, 0);
  const ground = getComputedStyle(document.querySelector(".card")!).backgroundColor;
  return [...document.querySelectorAll(".bars path:not(.nothing)")].map((bar) => {
    const [one, other] = [light(getComputedStyle(bar).fill), light(ground)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  });
}

export function luminance(color: string): number {
  const [red, green, blue] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return (0.2126 * red! + 0.7152 * green! + 0.0722 * blue!) / 255;
}

/** How many pixels stand beyond the right edge. */
export function overflowOf(tab: Page): Promise<number> {
  return tab.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));
}

/** Elements whose text is cut off. */
export function clippedIn(tab: Page): Promise<string[]> {
  return tab.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("body *")]
      .filter((element) => getComputedStyle(element).overflow === "hidden" && !element.matches(".unseen, .skip, svg") && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1))
      .map((element) => element.outerHTML.slice(0, 80)),
  );
}

/** Whether a text ends, on the screen, with its own closing bracket: the bracket stands right of what is in it. */
export function bracketsOf(tab: Page, text: string): Promise<{ found: boolean; ordered: boolean }> {
  return tab.evaluate((wanted) => {
    const walker = document.createTreeWalker(document.querySelector("main")!, NodeFilter.SHOW_TEXT);
    const places: boolean[] = [];
    while (walker.nextNode()) {
      const node = walker.currentNode as Text;
      const from = node.data.indexOf(wanted);
      if (from < 0 || node.parentElement!.closest("details:not([open])")) continue;
      const left = (at: number) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect();
      };
      const [before, bracket] = [left(from + wanted.length - 2), left(from + wanted.length - 1)];
      if (before.width > 0 && before.top === bracket.top) places.push(bracket.left >= before.left);
    }
    return { found: places.length > 0, ordered: places.every(Boolean) };
  }, text);
}

const GAP = /[ \t\v\f\r\n]+|\/\/[^\r\n]*|\/\*[^]*?\*\//y;
/** No directive that means anything is longer. */
const TEXT = /"(?:[^"\\\r\n]|\\[^]){0,200}"|'(?:[^'\\\r\n]|\\[^]){0,200}'/y;
/** With these a line goes on the one before: its text was part of an expression. */
const GOES_ON = /[.,([`+\-*/%=<>&|^?:!]|in\b|instanceof\b/y;

/** The directives that a script begins with, such as `"use strict"`, as they are written and in their order. Linear in their length. */
export function directivesOf(script: string): string[] {
  const directives: string[] = [];
  let at = skip(script, 0);
  for (;;) {
    const text = match(TEXT, script, at);
    if (text === "") return directives;
    const behind = at + text.length;
    const next = skip(script, behind);
    const ended = script[next] === ";" || next === script.length || (script.slice(behind, next).includes("\n") && match(GOES_ON, script, next) === "");
    if (!ended) return directives;
    directives.push(text);
    at = skip(script, script[next] === ";" ? next + 1 : next);
  }
}

/** Past blanks and comments. */
function skip(script: string, from: number): number {
  let at = from;
  for (;;) {
    const gap = match(GAP, script, at);
    if (gap === "") return at;
    at += gap.length;
  }
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** A frame as V8 prints it; without a file it is the engine's own. */
interface Printed {
  name: string;
  file: string | undefined;
  line: number;
  column: number;
}

function framesIn(stack: string): Printed[] {
  return stack.split("\n").slice(1).map((text) => {
    const [, called, file, line, column] = /^ {4}at (?:(.+) \()?(?:(http\S+):(\d+):(\d+)|<anonymous>)\)?$/.exec(text)!;
    const name = (called ?? "").split(/[. ]/).at(-1)!;
    return { name: name === "<anonymous>" ? "" : name, file, line: Number(line), column: Number(column) };
  });
}

/** A stack of Chromium as Firefox prints it: what is passed on is named after the function around it, and what is the engine's own is left out. */
export function asFirefox(stack: string): string {
  return framesIn(stack).flatMap(({ name, file, line, column }) => (file ? [`${name || "t/<"}@${file}:${line}:${column}\n`] : [])).join("");
}

/** A stack of Chromium as Safari prints it: with nothing for a name, a call where its parenthesis is, and at the end how it went on after `await`. Reads the scripts. */
export async function asSafari(stack: string): Promise<string> {
  const lines: string[] = [];
  for (const { name, file, line, column } of framesIn(stack)) {
    const text = file ? (await (await fetch(file)).text()).split("\n")[line - 1]! : "";
    const call = /^[\w$.]*\(/.exec(text.slice(column - 1))?.[0].length ?? 1;
    lines.push(file ? `${name && `${name}@`}${file}:${line}:${column + call - 1}` : `${name}@[native code]`);
  }
  return [...lines, "asyncFunctionResume@[native code]", "@[native code]", "promiseReactionJobWithoutPromise@[native code]"].join("\n");
}

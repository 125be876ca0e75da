declare global {
  /** As our bundler plugins fill it: the stack of an error made at the script's top → the script's debug id. */
  var _pharosDebugIds: Record<string, string> | undefined;
}

/** The first frame's URL, as any engine prints it. */
const SCRIPT = /\w+:\/\/\S+?(?=:\d+(:\d+)?\)?$)/m;

let known: [url: string | undefined, id: string][] = [];

/** The debug ids of the scripts that the stacks name. Scripts only ever come in addition, so their number tells whether to look again. */
export function debugIdsFor(stacks: string): Record<string, string> {
  const entries = Object.entries(globalThis._pharosDebugIds ?? {});
  if (entries.length !== known.length) known = entries.map(([stack, id]) => [SCRIPT.exec(stack)?.[0], id]);
  return Object.fromEntries(known.filter(([url]) => url && stacks.includes(url)));
}

// The worker of lost-worker.flow.test.ts: the real one, in a thread whose JSON parser hangs or dies on two texts.
export { rowsOfRecords } from "./worker.ts";

const parse = JSON.parse;
JSON.parse = (text: string): unknown => {
  for (; text.includes("hang this thread"); );
  if (text.includes("kill this thread")) process.exit(9);
  return parse(text);
};

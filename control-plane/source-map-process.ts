import { readFile, writeFile } from "node:fs/promises";
import { buildIndex, type BuiltIndex } from "../domain/source-maps/build-index.ts";

export interface IndexRequest {
  mapPath: string;
  /** Where the index shall lie. */
  indexPath: string;
}

export type IndexAnswer = Omit<BuiltIndex & { kind: "index" }, "index"> | (BuiltIndex & { kind: "invalid" });

/** Reads one map after the other, until it is told to end or its parent is gone. */
process.on("message", ({ mapPath, indexPath }: IndexRequest) => {
  void index(mapPath, indexPath).then((answer) => process.send!(answer));
});

async function index(mapPath: string, indexPath: string): Promise<IndexAnswer> {
  const built = await buildIndex(await readFile(mapPath));
  if (built.kind === "invalid") return built;
  const { index: bytes, ...rest } = built;
  await writeFile(indexPath, bytes, { mode: 0o600, flag: "wx" });
  return rest;
}

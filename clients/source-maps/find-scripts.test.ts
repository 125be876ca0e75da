import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeFiles } from "../../testing/write-files.ts";
import { findScripts } from "./find-scripts.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-scripts-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (files: Record<string, string>) => writeFiles(folder, files);

/** Each script with its map, or with what it is left out for. */
async function find(root = folder, names?: string[]): Promise<Record<string, string>> {
  const found = await findScripts(root, names);
  return Object.fromEntries(found.map((each) => [each.path, each.kind === "script" ? relative(folder, each.mapFile) : each.reason]));
}

test("scripts are paired by their comment, else by the name beside them", async () => {
  await write({
    "named.js": "a()\n//# sourceMappingURL=maps/x.map?v=1#top",
    "maps/x.map": "{}",
    "beside.mjs": "a()",
    "beside.mjs.map": "{}",
    "sub/up.cjs": "a()\n//# sourceMappingURL=../maps/up.map",
    "maps/up.map": "{}",
    "a b.js": "a()\n//# sourceMappingURL=a%20b.js.map",
    "a b.js.map": "{}",
    "50%.js": "a()\n//# sourceMappingURL=50%.js.map",
    "50%.js.map": "{}",
    "ü.js": "a()\n//# sourceMappingURL=ü.map",
    "ü.map": "{}",
    "far.js": "a()\n//# sourceMappingURL=https://maps.example/far.js.map",
    "far.js.map": "{}",
  });
  expect(await find()).toEqual({
    "50%.js": "50%.js.map",
    "a b.js": "a b.js.map",
    "beside.mjs": "beside.mjs.map",
    "far.js": "far.js.map",
    "named.js": "maps/x.map",
    "sub/up.cjs": "maps/up.map",
    "ü.js": "ü.map",
  });
});

test("what has no partner is told, with the reason; what is no script is passed over", async () => {
  await write({
    "inline.js": "a()\n//# sourceMappingURL=data:application/json;base64,e30=",
    "none.js": "a()",
    "gone.js": "a()\n//# sourceMappingURL=gone.map",
    "lonely.js.map": "{}",
    "style.css": "",
    "style.css.map": "{}",
    "types.d.ts.map": "{}",
    "node_modules/x/x.js": "a()",
    ".git/x.js": "a()",
  });
  expect(await find()).toEqual({
    "inline.js": expect.stringContaining("inline") as string,
    "none.js": "it names no map, and there is no none.js.map beside it",
    "gone.js": "the map it names, gone.map, is not there, nor is gone.js.map beside it",
    "lonely.js.map": "no script here names this map",
  });
});

test("links are followed once, dead ones passed over; a file is taken alone, and names alone of a folder", async () => {
  await write({ "real/a.js": "a()", "real/a.js.map": "{}", "b.js": "b()", "b.js.map": "{}" });
  await symlink(folder, join(folder, "real/around"));
  await symlink(join(folder, "nowhere"), join(folder, "dead.js"));
  await symlink(join(folder, "b.js"), join(folder, "linked.js"));
  expect(Object.keys(await find())).toEqual(["b.js", "linked.js", "real/a.js"]);
  expect(await find(join(folder, "real/a.js"))).toEqual({ "a.js": "real/a.js.map" });
  expect(await find(folder, ["real/a.js", "real/a.js.map", "style.css"])).toEqual({ "real/a.js": "real/a.js.map" });
  await expect(find(join(folder, "missing"))).rejects.toMatchObject({ code: "ENOENT" });
});

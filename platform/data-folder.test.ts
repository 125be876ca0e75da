import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findOrdinaryUser, runModule } from "../testing/run-module.ts";
import { claimDataFolder } from "./data-folder.ts";
import { StartFailure } from "./start-failure.ts";

let parent: string;
let path: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "pharos-data-folder-"));
  path = join(parent, "deep", "data");
});

afterEach(() => rm(parent, { recursive: true, force: true }));

/** The sentence with which claiming fails. */
async function refusal(folder: string): Promise<string> {
  const error: unknown = await claimDataFolder(folder).then(() => null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartFailure);
  return (error as StartFailure).message;
}

const claimAndPrint = (folder: string) => `
  import { claimDataFolder } from "./platform/data-folder.ts";
  try {
    const folder = await claimDataFolder(${JSON.stringify(folder)});
    folder.describe({ port: 4080, edgePort: 4081 });
    console.log("claimed");
    setInterval(() => folder.path, 1000);
  } catch (error) {
    console.log(error.name + ": " + error.message);
  }`;

describe("claimDataFolder", () => {
  test("makes the folder for its user alone and gives it back on release", async () => {
    const folder = await claimDataFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, "lock"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(path, "version"), "utf8")).toBe("1\n");
    await folder.release();
    await folder.release();
    await (await claimDataFolder(path)).release();
  });

  test("refuses a second claim in the same process", async () => {
    const folder = await claimDataFolder(path);
    expect(await refusal(path)).toContain(`is held by another Pharos: process ${process.pid}, since 20`);
    expect(await refusal(path)).toContain("not ready yet");
    await folder.release();
  });

  test("says which process holds the folder, where it answers and what to do, and takes over when that is killed", async () => {
    const holder = runModule(claimAndPrint(path));
    await holder.printed("claimed");
    const sentence = await refusal(path);
    expect(sentence).toContain(`process ${holder.child.pid}, since 20`);
    expect(sentence).toContain("answering on port 4080 and 4081");
    expect(sentence).toContain(`Stop that one (\`kill ${holder.child.pid}\`), or set PHAROS_DATA_DIR to another folder`);
    holder.child.kill("SIGKILL");
    expect((await holder.ended()).signal).toBe("SIGKILL");
    await (await claimDataFolder(path)).release();
  });

  test("lets exactly one of several simultaneous claims through", async () => {
    const claims = await Promise.allSettled([1, 2, 3, 4].map(() => claimDataFolder(path)));
    const won = claims.filter((claim) => claim.status === "fulfilled");
    expect(won).toHaveLength(1);
    await won[0]!.value.release();
  });

  test("refuses the folder of a newer Pharos and a version that is no number", async () => {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "version"), "2\n");
    expect(await refusal(path)).toContain("was made by a newer Pharos (its layout is 2; this one knows 1). Start the newer Pharos on it");
    await writeFile(join(path, "version"), "");
    expect(await refusal(path)).toContain("should hold a number and holds something else");
  });

  test("says so when the path is a file or lies below one", async () => {
    const file = join(parent, "file");
    await writeFile(file, "");
    expect(await refusal(file)).toBe(`The data folder ${file} is a file, not a folder. Set PHAROS_DATA_DIR to a folder.`);
    expect(await refusal(join(file, "data"))).toContain("lies below something that is a file");
  });

  test("says so when this user may not write there", async () => {
    const user = findOrdinaryUser();
    // Root writes everywhere: where no ordinary user can read this project, there is nobody to refuse.
    if (process.getuid?.() === 0 && !user) return;
    await mkdir(path, { recursive: true });
    if (user) {
      await chmod(parent, 0o755);
      await chown(path, 0, 0);
    }
    await chmod(path, 0o555);
    const { output } = await runModule(claimAndPrint(path), user).ended();
    await chmod(path, 0o755);
    expect(output).toContain(`StartFailure: The data folder ${path} cannot be written by this user. Give it to the user who runs Pharos`);
  });
});

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { releaseOfBuild } from "./release-of-build.ts";
import { uploadBuild, type PharosOptions } from "./upload-build.ts";

test.each<[string, PharosOptions, string]>([
  ["address", { url: "pharos.example" }, "pharos.example is no address"],
  ["prefix", { urlPrefix: "static" }, "The urlPrefix static is no address"],
  ["release", { release: " " }, "It is not known which release this is"],
  ["key", { release: "1", serviceId: "x" }, "Give apiKey, or set PHAROS_API_KEY"],
  ["service", { release: "1", apiKey: "x" }, "Give serviceId, or set PHAROS_SERVICE"],
])("without a good %s it says what to give", async (_, options, sentence) => {
  const report = await uploadBuild(options, { folder: "/nowhere", files: [], publicPath: undefined, switchOn: "" }, {});
  expect(report).toEqual({ ok: false, text: expect.stringContaining(sentence) as string });
});

test("the release is the commit, by the build's environment, else by git", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pharos-release-"));
  const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  expect(releaseOfBuild({}, folder)).toBeNull();
  git("init");
  expect(releaseOfBuild({}, folder)).toBeNull();
  git("commit", "--allow-empty", "-m", "first");
  expect(releaseOfBuild({}, folder)).toBe(git("rev-parse", "HEAD"));
  expect(releaseOfBuild({ GITHUB_SHA: "of the service" }, folder)).toBe("of the service");
  expect(releaseOfBuild({ GITHUB_SHA: "of the service", PHAROS_RELEASE: "1.4.0" }, folder)).toBe("1.4.0");
  await rm(folder, { recursive: true, force: true });
});

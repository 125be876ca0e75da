import { execFileSync } from "node:child_process";

/** Of CI services and hosts: the commit they build. PHAROS_RELEASE is for those that are not here. */
const VARIABLES = [
  "PHAROS_RELEASE",
  "GITHUB_SHA",
  "CI_COMMIT_SHA",
  "BITBUCKET_COMMIT",
  "CIRCLE_SHA1",
  "BUILDKITE_COMMIT",
  "BUILD_SOURCEVERSION",
  "GIT_COMMIT",
  "TRAVIS_COMMIT",
  "VERCEL_GIT_COMMIT_SHA",
  "CF_PAGES_COMMIT_SHA",
  "COMMIT_REF",
];

/** What is built in `folder`: the commit by the environment of the build, else by git; null when neither knows. */
export function releaseOfBuild(environment: NodeJS.ProcessEnv, folder: string): string | null {
  const named = VARIABLES.map((name) => environment[name]?.trim()).find(Boolean);
  if (named) return named;
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() || null;
  } catch {
    return null;
  }
}

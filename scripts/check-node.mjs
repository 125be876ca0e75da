// Runs before anything native is loaded, in syntax that old Node versions parse too.
import { pathToFileURL } from "node:url";

const SUPPORTED = new Set([20, 22]);

/** Returns null when this Node and platform can run Pharos, else the sentence to print. */
export function nodeProblem(version, platform, glibc) {
  const [major, minor] = version.replace(/^v/, "").split(".").map(Number);
  const supported = SUPPORTED.has(major) && (major !== 20 || minor >= 20);
  if (!supported) {
    return `Pharos needs Node 20 (from 20.20) or 22; this is ${version}. uWebSockets.js has no binary for it. Switch with your version manager, for example: nvm use 22`;
  }
  if (platform === "win32") return "Pharos does not run on Windows itself; start it inside WSL 2.";
  if (platform === "linux" && !glibc) {
    return "Pharos needs a glibc Linux: its native parts have no musl binaries. On Alpine use a Debian-based image such as node:22-slim.";
  }
  return null;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const header = process.report?.getReport?.()?.header;
  const problem = nodeProblem(process.version, process.platform, Boolean(header?.glibcVersionRuntime));
  if (problem) {
    console.error(problem);
    process.exit(1);
  }
}

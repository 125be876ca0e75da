// npm leaves optional packages of other platforms out of package-lock.json when a partial registry mirror does not have
// them, and `npm ci` then refuses the lock. This writes them back from what their parents ask for, with the platform that
// their name tells. Run it after `npm install` when `npm ci` says "Missing: … from lock file".
import { readFileSync, writeFileSync } from "node:fs";

const SYSTEMS = { linux: "linux", darwin: "darwin", win32: "win32", windows: "win32", android: "android", freebsd: "freebsd", openbsd: "openbsd", netbsd: "netbsd", sunos: "sunos", aix: "aix", openharmony: "openharmony", wasm32: "wasm32" };
const PROCESSORS = { x64: "x64", arm64: "arm64", ia32: "ia32", arm: "arm", armv7: "arm", riscv64: "riscv64", ppc64: "ppc64", s390x: "s390x", loong64: "loong64", mips64el: "mips64el", wasm32: "wasm32" };

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
let added = 0;
for (const [parent, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (isThere(parent, name)) continue;
    const words = name.split(/[-/@]/);
    const os = words.map((word) => SYSTEMS[word]).find(Boolean);
    const cpu = words.map((word) => PROCESSORS[word]).find(Boolean);
    // Only platform packages: anything else that is missing is a fault to look at.
    if (!os && !cpu) continue;
    const libc = words.some((word) => word.startsWith("gnu")) ? ["glibc"] : words.some((word) => word.startsWith("musl")) ? ["musl"] : undefined;
    const version = range.replace(/^[^\d]*/, "");
    lock.packages[placeFor(parent, name)] = { version, ...(cpu && { cpu: [cpu] }), ...(libc && { libc }), optional: true, ...(os && { os: [os] }) };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([one], [other]) => (one < other ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} optional packages of other platforms were written back.`);

/** Node's own look-up: in the parent's node_modules, then in each above it. */
function isThere(parent, name) {
  for (let folder = parent; ; folder = folder.includes("/node_modules/") ? folder.slice(0, folder.lastIndexOf("/node_modules/")) : "") {
    if (lock.packages[`${folder ? `${folder}/` : ""}node_modules/${name}`]) return true;
    if (folder === "") return false;
  }
}

/** At the top, unless another version stands there already. */
function placeFor(parent, name) {
  return lock.packages[`node_modules/${name}`] ? `${parent}/node_modules/${name}` : `node_modules/${name}`;
}

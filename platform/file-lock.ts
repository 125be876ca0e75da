import { createRequire } from "node:module";

/** The one function of `fs-native-extensions` (CommonJS, without types) that we use. */
interface NativeLocks {
  tryLock(fd: number): boolean;
}

const require = createRequire(import.meta.url);
const { tryLock } = require("fs-native-extensions") as NativeLocks;

/**
 * Takes the operating system's exclusive lock on an open file, or says false when another open file has it, in this
 * process or any other. It ends with the file's closing or the process' death, however that comes about.
 */
export function tryLockFile(fd: number): boolean {
  return tryLock(fd);
}

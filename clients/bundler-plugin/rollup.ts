import { plugin } from "./plugin.ts";

/** For Rollup: uploads the source maps of each build (docs/source-maps.md). */
export const pharos = plugin.rollup;

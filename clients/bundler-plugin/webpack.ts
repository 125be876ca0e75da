import { plugin } from "./plugin.ts";

/** For webpack: uploads the source maps of each build (docs/source-maps.md). */
export const pharos = plugin.webpack;

import { plugin } from "./plugin.ts";

/** For esbuild: uploads the source maps of each build (docs/source-maps.md). */
export const pharos = plugin.esbuild;

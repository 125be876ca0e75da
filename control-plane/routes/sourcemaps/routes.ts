import type { Route } from "../../route.ts";
import { list } from "./list.ts";
import { lookUp } from "./look-up.ts";
import { remove } from "./remove.ts";
import { upload } from "./upload.ts";

export const sourceMapRoutes: Route[] = [list, upload, lookUp, remove];

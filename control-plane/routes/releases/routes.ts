import type { Route } from "../../route.ts";
import { create } from "./create.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";

export const releaseRoutes: Route[] = [list, create, get];

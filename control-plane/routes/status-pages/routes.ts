import type { Route } from "../../route.ts";
import { assign } from "./assign-services.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { listServices } from "./list-services.ts";

export const statusPageRoutes: Route[] = [list, get, listServices, assign];

import type { Route } from "../../route.ts";
import { check } from "./check.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { update } from "./update.ts";

export const domainMonitorRoutes: Route[] = [list, create, get, update, check, remove];

import type { Route } from "../../route.ts";
import { changeMany } from "./change-many.ts";
import { changeStatus } from "./change-status.ts";
import { exportAll } from "./export.ts";
import { get } from "./get.ts";
import { occurrences } from "./list-occurrences.ts";
import { list } from "./list.ts";

export const errorRoutes: Route[] = [list, exportAll, changeMany, get, changeStatus, occurrences];

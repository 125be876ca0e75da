import type { Route } from "../../route.ts";
import { changeStatus } from "./change-status.ts";
import { get } from "./get.ts";
import { occurrences } from "./list-occurrences.ts";
import { list } from "./list.ts";

export const errorRoutes: Route[] = [list, get, changeStatus, occurrences];

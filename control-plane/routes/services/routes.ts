import type { Route } from "../../route.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { metrics } from "./metrics.ts";
import { update } from "./update.ts";
import { uptime } from "./uptime.ts";

export const serviceRoutes: Route[] = [list, create, get, update, remove, metrics, uptime];

import type { Route } from "../../route.ts";
import { addUpdate } from "./add-update.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { listUpdates } from "./list-updates.ts";
import { update } from "./update.ts";

export const maintenanceWindowRoutes: Route[] = [list, create, get, update, listUpdates, addUpdate, remove];

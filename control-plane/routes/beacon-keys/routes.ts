import type { Route } from "../../route.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { list } from "./list.ts";
import { update } from "./update.ts";

export const beaconKeyRoutes: Route[] = [list, create, update, remove];

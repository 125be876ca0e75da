import type { Route } from "../../route.ts";
import { list } from "./list.ts";
import { remove } from "./delete.ts";

export const subscriberRoutes: Route[] = [list, remove];

import type { Route } from "../../route.ts";
import { get } from "./get.ts";
import { update } from "./update.ts";

export const configRoutes: Route[] = [get, update];

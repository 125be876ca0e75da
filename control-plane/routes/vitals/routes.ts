import type { Route } from "../../route.ts";
import { list } from "./list.ts";

export const vitalRoutes: Route[] = [list];

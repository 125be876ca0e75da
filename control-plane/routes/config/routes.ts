import type { Route } from "../../route.ts";
import { get } from "./get.ts";

export const configRoutes: Route[] = [get];

import type { Route } from "../../route.ts";
import { create } from "./create.ts";
import { list } from "./list.ts";
import { revoke } from "./revoke.ts";

export const apiKeyRoutes: Route[] = [list, create, revoke];

import type { Route } from "../../route.ts";
import { list } from "./list.ts";

export const auditLogRoutes: Route[] = [list];

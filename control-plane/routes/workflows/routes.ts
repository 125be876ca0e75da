import type { Route } from "../../route.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { run } from "./get-run.ts";
import { get } from "./get.ts";
import { runs } from "./list-runs.ts";
import { list } from "./list.ts";
import { trigger } from "./trigger.ts";
import { update } from "./update.ts";

export const workflowRoutes: Route[] = [list, create, get, update, remove, trigger, runs, run];

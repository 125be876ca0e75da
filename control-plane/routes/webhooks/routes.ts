import type { Route } from "../../route.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { deliveries } from "./list-deliveries.ts";
import { list } from "./list.ts";
import { allFailed } from "./redeliver-failed.ts";
import { again } from "./redeliver.ts";
import { rotate } from "./rotate-secret.ts";
import { test } from "./test.ts";
import { update } from "./update.ts";

export const webhookRoutes: Route[] = [list, create, get, update, remove, rotate, test, deliveries, again, allFailed];

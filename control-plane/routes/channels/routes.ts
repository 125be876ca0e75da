import type { Route } from "../../route.ts";
import { confirm } from "./confirm.ts";
import { create } from "./create.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { deliveries } from "./list-deliveries.ts";
import { list } from "./list.ts";
import { sendCode } from "./send-code.ts";
import { test } from "./test.ts";
import { update } from "./update.ts";

export const channelRoutes: Route[] = [list, create, get, update, remove, test, confirm, sendCode, deliveries];

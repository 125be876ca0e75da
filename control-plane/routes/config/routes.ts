import type { Route } from "../../route.ts";
import { confirmOwnerEmail } from "./confirm-owner-email.ts";
import { get } from "./get.ts";
import { sendOwnerCode } from "./send-owner-code.ts";
import { update } from "./update.ts";

export const configRoutes: Route[] = [get, update, confirmOwnerEmail, sendOwnerCode];

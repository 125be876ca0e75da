import type { Route } from "../../route.ts";
import { assign } from "./assign-services.ts";
import { create } from "./create.ts";
import { createAccessLink } from "./create-access-link.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { listServices } from "./list-services.ts";
import { revokeAccessLinks } from "./revoke-access-links.ts";
import { revokePreviewLinks } from "./revoke-preview-links.ts";
import { update } from "./update.ts";
import { verifyDomain } from "./verify-domain.ts";

export const statusPageRoutes: Route[] = [list, create, get, update, remove, listServices, assign, createAccessLink, revokeAccessLinks, revokePreviewLinks, verifyDomain];

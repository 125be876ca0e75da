import type { Route } from "../../route.ts";
import { createPreviewLink } from "./create-preview-link.ts";
import { get } from "./get.ts";
import { getVersion } from "./get-version.ts";
import { listVersions } from "./list-versions.ts";
import { publish } from "./publish.ts";
import { restore } from "./restore.ts";
import { save } from "./save-draft.ts";
import { validate } from "./validate.ts";
import { withdraw } from "./withdraw.ts";

export const designRoutes: Route[] = [get, save, validate, publish, listVersions, getVersion, restore, withdraw, createPreviewLink];

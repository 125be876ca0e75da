import type { Route } from "../route.ts";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import { beaconKeyRoutes } from "./beacon-keys/routes.ts";
import { configRoutes } from "./config/routes.ts";
import { errorRoutes } from "./errors/routes.ts";
import { heartbeatMonitorRoutes } from "./heartbeat-monitors/routes.ts";
import { incidentRoutes } from "./incidents/routes.ts";
import { serviceRoutes } from "./services/routes.ts";
import { statusPageRoutes } from "./status-pages/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** Every endpoint below /api/v1. */
export const ALL_ROUTES: readonly Route[] = [
  ...statusPageRoutes,
  ...serviceRoutes,
  ...incidentRoutes,
  ...heartbeatMonitorRoutes,
  ...errorRoutes,
  ...webhookRoutes,
  ...beaconKeyRoutes,
  ...apiKeyRoutes,
  ...configRoutes,
];

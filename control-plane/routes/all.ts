import type { Route } from "../route.ts";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import { auditLogRoutes } from "./audit-log/routes.ts";
import { beaconKeyRoutes } from "./beacon-keys/routes.ts";
import { channelRoutes } from "./channels/routes.ts";
import { configRoutes } from "./config/routes.ts";
import { designRoutes } from "./designs/routes.ts";
import { domainMonitorRoutes } from "./domain-monitors/routes.ts";
import { errorRoutes } from "./errors/routes.ts";
import { heartbeatMonitorRoutes } from "./heartbeat-monitors/routes.ts";
import { incidentRoutes } from "./incidents/routes.ts";
import { releaseRoutes } from "./releases/routes.ts";
import { maintenanceWindowRoutes } from "./maintenance-windows/routes.ts";
import { serviceRoutes } from "./services/routes.ts";
import { sourceMapRoutes } from "./sourcemaps/routes.ts";
import { sslMonitorRoutes } from "./ssl-monitors/routes.ts";
import { statusPageRoutes } from "./status-pages/routes.ts";
import { subscriberRoutes } from "./subscribers/routes.ts";
import { uptimeMonitorRoutes } from "./uptime-monitors/routes.ts";
import { vitalRoutes } from "./vitals/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { workflowRoutes } from "./workflows/routes.ts";

/** Every endpoint below /api/v1. */
export const ALL_ROUTES: readonly Route[] = [
  ...statusPageRoutes,
  ...subscriberRoutes,
  ...designRoutes,
  ...serviceRoutes,
  ...incidentRoutes,
  ...maintenanceWindowRoutes,
  ...heartbeatMonitorRoutes,
  ...uptimeMonitorRoutes,
  ...sslMonitorRoutes,
  ...domainMonitorRoutes,
  ...errorRoutes,
  ...webhookRoutes,
  ...channelRoutes,
  ...workflowRoutes,
  ...beaconKeyRoutes,
  ...apiKeyRoutes,
  ...configRoutes,
  ...auditLogRoutes,
  ...releaseRoutes,
  ...sourceMapRoutes,
  ...vitalRoutes,
];

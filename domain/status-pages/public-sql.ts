import { sql, type SQL } from "drizzle-orm";
import { isoText } from "../../platform/postgres/iso-text.ts";
import {
  incidents,
  incidentServices,
  incidentUpdates,
  maintenanceUpdates,
  maintenanceWindows,
  maintenanceWindowServices,
  services,
  statusPageServices,
} from "../../schemas/tables/all.ts";

/** Whose and of which page. */
interface OfPage {
  organizationId: string;
  pageId: string;
}

interface Wanted extends OfPage {
  /** A condition on `happening.…`, the incident or the window. */
  where: SQL;
  limit: number;
}

/** Of one incident or window a page or feed shows at most this many updates, the newest; there is no end to what scripts can write. */
const MOST_UPDATES = 200;

/** Bytes of all updates of one of many; the newest is told whatever its length, and an incident's own page tells all. */
const MOST_BYTES = 20_000;

/** Of the services that one is about a page names at most this many; who has thousands lists them below. */
const MOST_AFFECTED = 50;

/** The services of a page as a JSON array, in its order: one scalar. */
export function servicesOf({ organizationId, pageId }: OfPage): SQL {
  return sql`(
    select coalesce(json_agg(json_build_object(
      'id', service.id, 'name', service.name, 'description', service.description, 'status', service.status,
      'createdAt', ${isoText(sql`service.created_at`)}, 'updatedAt', ${isoText(sql`service.updated_at`)}
    ) order by assigned.display_order, service.id), '[]')
    from ${statusPageServices} as assigned join ${services} as service on service.id = assigned.service_id
    where assigned.status_page_id = ${pageId} and service.organization_id = ${organizationId}
  )`;
}

const INCIDENTS = {
  table: incidents,
  links: incidentServices,
  updates: incidentUpdates,
  key: sql`incident_id`,
  own: sql`'title', happening.title, 'status', happening.status, 'severity', happening.severity,
    'startedAt', ${isoText(sql`happening.started_at`)}, 'resolvedAt', ${isoText(sql`happening.resolved_at`)}`,
  newest: sql`happening.started_at desc, happening.id desc`,
};

const MAINTENANCE = {
  table: maintenanceWindows,
  links: maintenanceWindowServices,
  updates: maintenanceUpdates,
  key: sql`maintenance_window_id`,
  own: sql`'title', happening.title, 'description', happening.description, 'status', happening.status, 'rrule', happening.rrule,
    'startsAt', ${isoText(sql`happening.starts_at`)}, 'endsAt', ${isoText(sql`happening.ends_at`)}`,
  newest: sql`happening.starts_at desc, happening.id desc`,
};

/** Incidents that a page shows as a JSON array, newest first: one scalar. A page shows what affects one of its services, or none at all. */
export function incidentsOf(wanted: Wanted): SQL {
  return happeningsOf(INCIDENTS, wanted);
}

/** Maintenance windows that a page shows, as incidents; those that start last first. */
export function maintenanceOf(wanted: Wanted): SQL {
  return happeningsOf(MAINTENANCE, wanted);
}

function happeningsOf({ table, links, updates, key, own, newest }: typeof INCIDENTS | typeof MAINTENANCE, { organizationId, pageId, where, limit }: Wanted): SQL {
  return sql`(
    select coalesce(json_agg(json_build_object(
      'id', happening.id, ${own}, 'createdAt', ${isoText(sql`happening.created_at`)}, 'updatedAt', ${isoText(sql`happening.updated_at`)},
      'services', affected.services, 'updates', told.updates
    ) order by ${newest}), '[]')
    from (select * from ${table} as happening
      where happening.organization_id = ${organizationId} and (${where}) and (
        (not happening.lost_services and not exists (select from ${links} as link where link.${key} = happening.id))
        or exists (select from ${links} as link join ${statusPageServices} as assigned on assigned.service_id = link.service_id
          where link.${key} = happening.id and assigned.status_page_id = ${pageId})
      )
      order by ${newest} limit ${limit}) as happening
    cross join lateral (
      select coalesce(json_agg(json_build_object('id', service.id, 'name', service.name) order by service.display_order, service.id), '[]') as services
      from (
        select service.id, service.name, assigned.display_order
        from ${links} as link
        join ${statusPageServices} as assigned on assigned.service_id = link.service_id and assigned.status_page_id = ${pageId}
        join ${services} as service on service.id = link.service_id
        where link.${key} = happening.id
        order by assigned.display_order, service.id limit ${MOST_AFFECTED}
      ) as service
    ) as affected
    cross join lateral (
      select coalesce(json_agg(json_build_object('id', said.id, 'status', said.status, 'message', said.message, 'createdAt', ${isoText(sql`said.created_at`)})
        order by said.created_at desc, said.id desc), '[]') as updates
      from (
        -- octet_length knows the length without fetching the text.
        select *, row_number() over newest as place, sum(octet_length(message)) over newest as bytes
        from (select * from ${updates} as each where each.${key} = happening.id order by each.created_at desc, each.id desc limit ${MOST_UPDATES}) as each
        window newest as (order by each.created_at desc, each.id desc)
      ) as said where place = 1 or bytes <= ${limit === 1 ? MOST_UPDATES * 40_000 : MOST_BYTES}
    ) as told
  )`;
}

import { sql, type SQL } from "drizzle-orm";
import { channels, domainMonitors, heartbeatMonitors, notifications, sslMonitors, uptimeMonitors } from "../../schemas/tables/all.ts";
import type { EventType } from "../../schemas/vocabulary.ts";

/** Told to the channels that want to hear of all incidents, and of all maintenance. */
const OF_INCIDENTS: EventType[] = ["incident.created", "incident.updated", "incident.resolved", "incident.deleted"];
const OF_MAINTENANCE: EventType[] = ["maintenance.scheduled", "maintenance.started", "maintenance.completed"];
/** Told to the channels that the monitor names. `heartbeat.missed` never comes without `monitor.down`, which says the same. */
const OF_MONITORS: EventType[] = ["monitor.down", "monitor.up", "ssl.expiring", "domain.expiring"];

/**
 * Parts of the fan-out's `with`: of its `batch` (id, organization_id, type, subject, status, created_at, position of events, `subject` and `status` being
 * the data's `id` and `status`), each event becomes one notification for each channel that is told of it, due at `at`. An incident that was
 * over when it was deleted is no news. PagerDuty hears of maintenance when it begins: nobody can act on an alert about next week.
 */
export function tellChannels(at: SQL): SQL {
  return sql`
    listening as materialized (
      select id, organization_id, type, notify_on_incident, notify_on_maintenance from ${channels}
      where enabled and organization_id in (select organization_id from batch where type::text = any(${sql.param([...OF_INCIDENTS, ...OF_MAINTENANCE, ...OF_MONITORS])}::text[]))
      order by id for key share
    ), named as (
      select batch.id as event_id, unnest(monitor.channels) as channel_id from batch cross join lateral (
        ${sql.join([uptimeMonitors, sslMonitors, domainMonitors, heartbeatMonitors].map((table) => sql`
        select notification_channels as channels from ${table} where id = case when batch.type::text = any(${sql.param(OF_MONITORS)}::text[]) then batch.subject::uuid end and organization_id = batch.organization_id`), sql` union all `)}
      ) as monitor
    ), hearing as (
      select batch.id as event_id, listening.id as channel_id from batch join listening on listening.organization_id = batch.organization_id
      where (batch.type::text = any(${sql.param(OF_INCIDENTS)}::text[]) and listening.notify_on_incident and (batch.type <> 'incident.deleted' or batch.status is distinct from 'resolved'))
        or (batch.type::text = any(${sql.param(OF_MAINTENANCE)}::text[]) and listening.notify_on_maintenance and (batch.type <> 'maintenance.scheduled' or listening.type <> 'pagerduty'))
      union
      select named.event_id, listening.id from named join batch on batch.id = named.event_id join listening on listening.id = named.channel_id and listening.organization_id = batch.organization_id
    ), told as (
      insert into ${notifications} (id, organization_id, channel_id, event_id, trigger, status, due_at, created_at)
      select gen_random_uuid(), batch.organization_id, hearing.channel_id, batch.id, 'event', 'pending', ${at}, batch.created_at from hearing join batch on batch.id = hearing.event_id order by batch.position
    )`;
}

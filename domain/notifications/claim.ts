import { and, asc, eq, inArray, sql, type SQL } from "drizzle-orm";
import { claimDue } from "../../platform/claim-due.ts";
import { counts } from "../../platform/fair-share.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { channels, events, notifications, organizations, statusPages } from "../../schemas/tables/all.ts";
import type { ChannelType, Plan } from "../../schemas/vocabulary.ts";
import { isConfirmed } from "../channels/confirmation.ts";
import type { ChannelConfig } from "../channels/mask-config.ts";
import type { NoticeSettings } from "./describe-event.ts";
import { readWaiting, type WaitingNotification } from "./waiting.ts";

/** A channel whose lease we hold, with what it is to be told. */
export interface ClaimedChannel {
  id: string;
  leaseToken: string;
  organizationId: string;
  type: ChannelType;
  name: string;
  enabled: boolean;
  /** The person behind it has agreed, where one has to. */
  confirmed: boolean;
  plan: Plan;
  config: ChannelConfig;
  settings: NoticeSettings;
  /** The oldest first; some more may wait. Empty when somebody was quicker. */
  waiting: WaitingNotification[];
}

export interface ClaimLimits {
  /** How many channels in all, of one type and of one organization are told something at a time, with those that are now. */
  room: number;
  perType: number;
  perOrganization: number;
  running: { types: ReadonlyMap<string, number>; organizations: ReadonlyMap<string, number> };
}

/** So many of a channel's are looked at, and told together at most. */
const WINDOW = 100;

/**
 * Claims channels that may be told something now and have something due, so that neither a vendor that hangs nor an organization takes
 * the places of others. One claim at a time holds a channel, which keeps its order and its pace with any number of schedulers.
 */
export async function claimChannels(database: Database, now: Date, leaseMs: number, limits: ClaimLimits, publicUrl: string | null): Promise<ClaimedChannel[]> {
  const { token, ids } = await claimDue(database, { table: channels, condition: sql`${channels.id} in (${fairShare(now, limits)})`, now, leaseMs, limit: limits.room });
  if (ids.length === 0) return [];
  const [rows, waiting] = await Promise.all([
    database
      .select({ channel: channels, organizationName: organizations.name, plan: organizations.plan, timezone: organizations.timezone, pageSlug: statusPages.slug })
      .from(channels)
      .innerJoin(organizations, eq(organizations.id, channels.organizationId))
      .leftJoin(statusPages, and(eq(statusPages.organizationId, channels.organizationId), statusPages.isDefault))
      .where(and(inArray(channels.id, ids), eq(channels.leaseToken, token))),
    oldestWaiting(database, ids),
  ]);
  return rows.map(({ channel: { id, organizationId, type, name, enabled, config, confirmedAt }, plan, organizationName, timezone, pageSlug }) => {
    const settings = { organizationName, timezone, pageSlug, publicUrl };
    return { id, leaseToken: token, organizationId, type, name, enabled, confirmed: isConfirmed({ type, confirmedAt }), plan, config, settings, waiting: readWaiting(waiting.filter(({ notification }) => notification.channelId === id), name, settings) };
  });
}

/** What happened earlier and is not fanned out yet comes first: later things wait for it. */
const UNTOLD = sql`(select ${events.organizationId} as organization_id, min(${events.createdAt}) as since from ${events} where ${events.fannedOutAt} is null group by 1)`;

/** Ids of channels that have something due, of each type and organization only as many as it has places free. */
function fairShare(now: Date, { perType, perOrganization, running }: ClaimLimits): SQL {
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`
    select id from (
      select channel.id,
        coalesce(of_type.running, 0) + row_number() over (partition by channel.type order by channel.due_at, channel.id) as place_in_type,
        coalesce(of_organization.running, 0) + row_number() over (partition by channel.organization_id order by channel.due_at, channel.id) as place_in_organization
      from ${channels} as channel
      left join ${counts(running.types)} as of_type (id text, running int) on of_type.id = channel.type::text
      left join ${counts(running.organizations)} as of_organization (id text, running int) on of_organization.id = channel.organization_id::text
      where channel.due_at <= ${at} and channel.id in (
        select waiting.channel_id from ${notifications} as waiting
        left join ${UNTOLD} as untold on untold.organization_id = waiting.organization_id
        where waiting.status = 'pending' and waiting.due_at <= ${at} and (untold.since is null or waiting.created_at <= untold.since)
      )
    ) as due where place_in_type <= ${perType} and place_in_organization <= ${perOrganization}`;
}

async function oldestWaiting(database: Database, channelIds: string[]) {
  const ranked = database
    .select({ id: notifications.id, place: sql<number>`row_number() over (partition by ${notifications.channelId} order by (${notifications.trigger} in ('test', 'code')) desc, ${notifications.createdAt}, ${notifications.position})`.as("place") })
    .from(notifications)
    .where(and(inArray(notifications.channelId, channelIds), eq(notifications.status, "pending")))
    .as("ranked");
  return database
    .select({ notification: notifications, event: events })
    .from(ranked)
    .innerJoin(notifications, eq(notifications.id, ranked.id))
    .leftJoin(events, eq(events.id, notifications.eventId))
    .leftJoin(sql`${UNTOLD} as untold`, sql`untold.organization_id = ${notifications.organizationId}`)
    .where(sql`${ranked.place} <= ${WINDOW} and (untold.since is null or ${notifications.createdAt} <= untold.since)`)
    .orderBy(asc(notifications.createdAt), asc(notifications.position));
}

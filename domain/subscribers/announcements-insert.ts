import { sql, type SQL } from "drizzle-orm";
import { announcements, subscribers } from "../../schemas/tables/all.ts";
import { TOLD_EVENTS } from "./happening.ts";

/**
 * The part of the fan-out that notes which events of `batch` (id, organization_id, type) subscribers are to be told of: one row each,
 * however many subscribers there are. `at` is when it happens, as a timestamptz.
 */
export function announcementsInsert(batch: SQL, at: SQL): SQL {
  return sql`
    insert into ${announcements} (id, organization_id, due_at, created_at)
    select id, organization_id, ${at}, ${at} from ${batch} as happened
    where type::text = any(${`{${TOLD_EVENTS.join(",")}}`}::text[])
      and exists (select from ${subscribers} as subscriber where subscriber.organization_id = happened.organization_id and subscriber.state = 'active')
    on conflict (id) do nothing`;
}

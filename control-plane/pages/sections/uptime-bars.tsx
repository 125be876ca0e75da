import type { PageUptime, PublicService } from "../../../domain/status-pages/public-page.ts";
import type { ServiceUptime } from "../../../schemas/api/uptime.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "../documents/drawing.ts";

/** In units of the drawing, which is stretched to the width of the page. */
const BAR = 3;
const STEP = 4;
const HEIGHT = 32;
/** Where a day begins on which all was well: others stand out by more than their color. */
const WELL_TOP = 8;

interface UptimeBarsProps {
  drawing: Drawing;
  name: string;
  uptime: ServiceUptime | undefined;
}

/** A bar for each day, colored by its worst status, with the whole figure below in text. */
export function UptimeBars({ drawing: { words, formats }, name, uptime }: UptimeBarsProps) {
  if (!uptime) return null;
  const { days, uptime_percent: percent } = uptime;
  const first = days.findIndex(({ worst_status: worst }) => worst !== null);
  const values = { percent: percent === null ? "" : formats.percent(percent), days: formats.count(days.length), date: first < 0 ? "" : formats.day(days[first]!.date) };
  // Of a service that is younger than the bars the figure is of less than they show.
  const text = percent === null ? words.uptime_unknown : fillIn(first > 0 ? words.uptime_since : words.uptime_over, values);
  return (
    <div class="uptime">
      <svg class="bars" viewBox={`0 0 ${days.length * STEP - STEP + BAR} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${name}: ${words.uptime} ${text}`}>
        {[...barsByStatus(days)].map(([status, path]) => (
          <path class={status} d={path} />
        ))}
      </svg>
      <p class="scale quiet">
        <span>{formats.daysAgo(days.length - 1)}</span>
        <strong>{text}</strong>
        <span>{formats.daysAgo(0)}</span>
      </p>
    </div>
  );
}

/** One path for all days of a status: ninety elements for each service would be most of the page. */
function barsByStatus(days: ServiceUptime["days"]): Map<string, string> {
  const paths = new Map<string, string>();
  for (const [at, { worst_status: worst }] of days.entries()) {
    const status = worst ?? "nothing";
    const top = status === "operational" || status === "nothing" ? WELL_TOP : 0;
    paths.set(status, `${paths.get(status) ?? ""}M${at * STEP} ${top}h${BAR}v${HEIGHT - top}h-${BAR}z`);
  }
  return paths;
}

/** Days that a page tells of, newest first; the API has all. */
const MOST_DAYS = 60;

/** The days on which not all was well, in text: what the colors of the bars say. */
export function UptimeDetails({ drawing: { words, formats }, services, uptime }: { drawing: Drawing; services: readonly PublicService[]; uptime: PageUptime }) {
  const days = services
    .flatMap(({ id, name }) => (uptime[id]?.days ?? []).map((day) => ({ name, day })))
    .filter(({ day: { worst_status: worst } }) => worst !== null && worst !== "operational")
    .toSorted((one, other) => other.day.date.localeCompare(one.day.date))
    .slice(0, MOST_DAYS);
  if (days.length === 0) return null;
  return (
    <details class="days" id="days-with-trouble">
      <summary>{words.days_with_trouble}</summary>
      <div class="wide" tabindex={0} role="region" aria-label={words.days_with_trouble}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.day}</th>
              <th scope="col">{words.services}</th>
              <th scope="col">{words.worst_status}</th>
              <th scope="col">{words.uptime}</th>
              <th scope="col">{words.down_for}</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ name, day: { date, worst_status: worst, uptime_percent: percent, seconds_by_status: seconds } }) => {
              const down = seconds.partial_outage + seconds.major_outage;
              return (
                <tr>
                  <td>{formats.day(date)}</td>
                  <td>
                    <bdi>{name}</bdi>
                  </td>
                  <td>
                    <span class={`status ${worst!}`}>{words[worst!]}</span>
                  </td>
                  <td>{percent === null ? words.no_data : formats.percent(percent)}</td>
                  <td>{down > 0 ? formats.duration(down) : "–"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}

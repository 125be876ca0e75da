import { METRIC_STEP_MS, type MetricSeries, type PageMetrics, type PublicMetric } from "../../../domain/status-pages/read-page-metrics.ts";
import type { PublicPage } from "../../../domain/status-pages/public-page.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "../documents/drawing.ts";

const WIDTH = 320;
const HEIGHT = 48;
const HOURS = 24;

interface MetricsProps {
  drawing: Drawing;
  page: PublicPage;
  /** Null when they could not be read. */
  metrics: PageMetrics | null;
}

/** How services answered over the last day, as curves and in figures. */
export function Metrics({ drawing, page: { services }, metrics }: MetricsProps) {
  const { words } = drawing;
  const shown = services.flatMap(({ id, name }) => (metrics?.series ?? []).filter(({ serviceId }) => serviceId === id).map((series) => ({ service: name, series })));
  return (
    <section id="metrics" data-live="" aria-labelledby="metrics-title">
      <h2 id="metrics-title">{words.metrics}</h2>
      <p class="quiet">{metrics === null ? words.metrics_away : shown.length === 0 ? words.metrics_none : words.metrics_window}</p>
      {shown.length > 0 && (
        <ul class="card charts">
          {shown.map(({ service, series }) => (
            <Chart drawing={drawing} service={service} series={series} window={metrics!} />
          ))}
        </ul>
      )}
    </section>
  );
}

const TITLE = { response_time_ms: "response_time", error_rate: "error_rate" } as const satisfies Record<PublicMetric, string>;

interface ChartProps {
  drawing: Drawing;
  service: string;
  series: MetricSeries;
  window: PageMetrics;
}

function Chart({ drawing: { words, formats }, service, series, window }: ChartProps) {
  const write = series.name === "error_rate" ? formats.percent : formats.milliseconds;
  const title = `${service}: ${words[TITLE[series.name]]}`;
  const average = fillIn(words.average, { value: write(series.average) });
  const highest = fillIn(words.highest, { value: write(series.highest) });
  return (
    <li>
      <h3 class="name">
        <bdi>{service}</bdi>: {words[TITLE[series.name]]}
      </h3>
      <svg class="chart" viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`} preserveAspectRatio="none" role="img" aria-label={`${title}. ${average}. ${highest}.`}>
        <path d={curve(series.points, window)} />
      </svg>
      <p class="scale quiet">
        <span>{formats.hoursAgo(HOURS)}</span>
        <span>
          {average} · {highest}
        </span>
        <span>{formats.hoursAgo(0)}</span>
      </p>
    </li>
  );
}

/** A line over the points; where nothing was measured for a while it is interrupted. */
function curve(points: MetricSeries["points"], { from, until }: PageMetrics): string {
  const top = Math.max(...points.map(({ average }) => average)) || 1;
  const starts = (n: number) => n === 0 || n === points.length || points[n]!.at - points[n - 1]!.at > 2 * METRIC_STEP_MS;
  const slot = ((METRIC_STEP_MS / (until - from)) * WIDTH).toFixed(1);
  return points
    .map(({ at, average }, n) => {
      const [x, y] = [(Math.max(at - from, 0) / (until - from)) * WIDTH, HEIGHT - (Math.max(average, 0) / top) * HEIGHT];
      // One alone is drawn as long as what it is the average of, to be seen at all.
      return `${starts(n) ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${starts(n) && starts(n + 1) ? `h${slot}` : ""}`;
    })
    .join("");
}

import { METRIC_STEP_MS, type MetricSeries, type PublicMetric } from "../../../domain/status-pages/read-page-metrics.ts";
import type { PublicPage } from "../../../domain/status-pages/public-page.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "../drawing.ts";

const WIDTH = 320;
const HEIGHT = 48;

interface MetricsProps {
  drawing: Drawing;
  page: PublicPage;
  /** Null when they could not be read. */
  metrics: readonly MetricSeries[] | null;
}

/** How services answered over the last day, as curves and in figures. */
export function Metrics({ drawing, page: { services }, metrics }: MetricsProps) {
  const { words } = drawing;
  const shown = services.flatMap(({ id, name }) => (metrics ?? []).filter(({ serviceId }) => serviceId === id).map((series) => ({ service: name, series })));
  return (
    <section id="metrics" data-live="" aria-labelledby="metrics-title">
      <h2 id="metrics-title">{words.metrics}</h2>
      <p class="quiet">{metrics === null ? words.metrics_away : shown.length === 0 ? words.metrics_none : words.metrics_window}</p>
      {shown.length > 0 && (
        <ul class="card charts">
          {shown.map(({ service, series }) => (
            <Chart drawing={drawing} service={service} series={series} />
          ))}
        </ul>
      )}
    </section>
  );
}

const TITLE = { response_time_ms: "response_time", error_rate: "error_rate" } as const satisfies Record<PublicMetric, string>;

function Chart({ drawing: { words, formats }, service, series }: { drawing: Drawing; service: string; series: MetricSeries }) {
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
        <path d={curve(series.points)} />
      </svg>
      <p class="quiet">
        {average} · {highest}
      </p>
    </li>
  );
}

/** A line over the points; where nothing was measured for a while it is interrupted. */
function curve(points: MetricSeries["points"]): string {
  const [first, last] = [points[0]!.at, points.at(-1)!.at];
  const top = Math.max(...points.map(({ average }) => average)) || 1;
  const across = Math.max(last - first, METRIC_STEP_MS);
  return points
    .map(({ at, average }, n) => {
      const start = n === 0 || at - points[n - 1]!.at > 2 * METRIC_STEP_MS;
      const [x, y] = [((at - first) / across) * WIDTH, HEIGHT - (Math.max(average, 0) / top) * HEIGHT];
      // A point alone becomes a dot by its round cap.
      return `${start ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${start ? "h0.1" : ""}`;
    })
    .join("");
}

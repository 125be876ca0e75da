import type { Moment as Text } from "../../../domain/status-pages/public-page.ts";
import type { Formats } from "../documents/formats.ts";

interface MomentProps {
  at: Text;
  formats: Formats;
}

/** A moment in the page's time zone, which the page's script rewrites in the visitor's. */
export function Moment({ at, formats }: MomentProps) {
  return (
    <time dateTime={at} data-at="">
      {formats.moment(at)}
    </time>
  );
}

/** From one moment to another, likewise. */
export function Span({ from, to, formats }: { from: Text; to: Text; formats: Formats }) {
  return (
    <time dateTime={from} data-at="" data-to={to}>
      {formats.range(from, to)}
    </time>
  );
}

import type { PublicPage } from "../../../domain/status-pages/public-page.ts";
import type { ServiceStatus } from "../../../schemas/vocabulary.ts";
import type { Drawing } from "../documents/drawing.ts";
import type { PageMessages } from "../messages/en.ts";

const SENTENCE: Record<ServiceStatus, keyof PageMessages> = {
  operational: "all_operational",
  maintenance: "maintenance_now",
  degraded: "some_degraded",
  partial_outage: "some_partial_outage",
  major_outage: "some_major_outage",
};

/** The sentence that most visitors come for. */
export function overallSentence(words: PageMessages, overall: PublicPage["overall"]): string {
  return words[overall === null ? "no_services" : SENTENCE[overall]];
}

export function OverallStatus({ drawing: { words }, page: { overall } }: { drawing: Drawing; page: PublicPage }) {
  return (
    <section id="overall" data-live="" role="status" class={`overall ${overall ?? ""}`}>
      <p>{overallSentence(words, overall)}</p>
    </section>
  );
}

import type { ChannelType } from "../../schemas/vocabulary.ts";
import { PACES } from "./payloads/vendor-limits.ts";

/** What of a waiting notification decides whom it goes with. */
interface Waiting {
  trigger: string;
  notice: { dedupKey: string };
}

/** What a channel is told next, by one message: `first` and all that go with it, `told` being those whose words it holds. */
export interface Sending<Each> {
  all: readonly [Each, ...Each[]];
  /** One is told as it is; several are summed up. */
  told: readonly Each[];
}

/**
 * Of what waits for a channel, oldest first, what is told next. A code and a test go before all, alone: somebody
 * waits for them. Where more waits than
 * the vendor's pace bears, one message tells all; to PagerDuty, whose alerts stand alone, the last word on one thing stands for those before it.
 */
export function chooseNext<Each extends Waiting>(type: ChannelType, waiting: readonly Each[]): Sending<Each> | null {
  const test = waiting.find(({ trigger }) => trigger === "code") ?? waiting.find(({ trigger }) => trigger === "test");
  if (test) return { all: [test], told: [test] };
  const [first] = waiting;
  if (!first) return null;
  const { togetherAbove } = PACES[type];
  if (togetherAbove === null || waiting.length <= togetherAbove) return { all: [first], told: [first] };
  const together = type === "pagerduty" ? waiting.filter(({ notice }) => notice.dedupKey === first.notice.dedupKey) : waiting;
  const rest = together.slice(1);
  return { all: [first, ...rest], told: type === "pagerduty" ? together.slice(-1) : together };
}

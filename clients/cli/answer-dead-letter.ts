import { SingleBar } from "cli-progress";
import { discardDeadLetters } from "../../domain/dead-letters/discard-dead-letters.ts";
import type { DeadLetterFilter } from "../../domain/dead-letters/list-dead-letters.ts";
import {
  replayAllDeadLetters,
  replayDeadLetter,
  type ReplayOutcome,
} from "../../domain/dead-letters/replay-dead-letters.ts";
import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { namedLetter, shortId } from "./dead-letter.ts";
import { withDatabase } from "./with-database.ts";
import { withStores } from "./with-stores.ts";

const PROGRESS_EVERY_MS = 1_000;

/** One letter, or all that a filter takes. */
type Named = { id: string } | { filter: Pick<DeadLetterFilter, "topic" | "consumerGroup"> };

/**
 * `dead-letter replay ID|--all`: 0 when everything asked for was put back or had been before; 1
 * when one cannot be.
 */
export async function replayDeadLettersCommand(
  config: Config,
  named: Named,
  { again, json }: { again: boolean; json: boolean },
): Promise<number> {
  const options = { again, now: Date.now() };
  if (!("id" in named)) return replayAll(config, { ...options, ...named, json });
  const { outcome, letter } = await withStores(config, async (stores) => {
    const letter = await namedLetter(stores.database, named.id);
    return { letter, outcome: await replayDeadLetter(stores, letter, options) };
  });
  const id = shortId(letter.id);
  if (outcome !== "replayed")
    throw new Failure(
      outcome === "unreadable" ? "INVALID_REQUEST" : "CONFLICT",
      `Dead letter ${id} ${REFUSALS[outcome]}`,
    );
  if (json) console.log(JSON.stringify({ replayed: 1 }));
  else
    console.log(
      `Dead letter ${id} was put back into ${letter.topic}. If it still cannot be processed it comes back as a new one.`,
    );
  return 0;
}

const ROWS_STAND =
  "its rows are still being deleted from ClickHouse, by a running processor. Try again in a minute.";

/** Why a letter is not put back, to stand behind its id. */
const REFUSALS: Record<Exclude<ReplayOutcome, "replayed">, string> = {
  "replayed before":
    "was replayed before. With --again it is put back once more, and counts once more.",
  "discarded before": "was discarded before. With --again it is put back all the same.",
  "rows stand": `cannot be replayed yet: ${ROWS_STAND}`,
  unreadable: "cannot be replayed: its bytes are no whole frame. `dead-letter show` prints them.",
};

async function replayAll(
  config: Config,
  {
    json,
    ...options
  }: {
    filter: Pick<DeadLetterFilter, "topic" | "consumerGroup">;
    again: boolean;
    now: number;
    json: boolean;
  },
): Promise<number> {
  const progress = process.stderr.isTTY ? tellByBar() : tellByLines();
  const counts = await withStores(config, (stores) =>
    replayAllDeadLetters(stores, { ...options, onProgress: progress.tell }),
  ).finally(() => progress.stop());
  const {
    replayed,
    unreadable,
    "replayed before": before,
    "discarded before": discarded,
    "rows stand": rowsStand,
  } = counts;
  if (json)
    console.log(
      JSON.stringify({
        replayed,
        replayed_before: before,
        discarded_before: discarded,
        rows_stand: rowsStand,
        unreadable,
      }),
    );
  else {
    const passedOver = [
      before > 0 && `${before} were replayed before`,
      discarded > 0 && `${discarded} were discarded`,
    ];
    const stay = [
      rowsStand > 0 && `${rowsStand} cannot be put back yet`,
      unreadable > 0 && `${unreadable} are no whole frame and stay`,
    ];
    console.log(`${[`${replayed} put back`, ...passedOver, ...stay].filter(Boolean).join(", ")}.`);
  }
  return unreadable + rowsStand > 0 ? 1 : 0;
}

interface Progress {
  tell(done: number, of: number): void;
  stop(): void;
}

function tellByBar(): Progress {
  const bar = new SingleBar({
    format: "[{bar}] {value} of {total}",
    clearOnComplete: true,
    hideCursor: true,
  });
  let started = false;
  return {
    tell(done, of) {
      if (!started) bar.start(of, done);
      else bar.update(done);
      started = true;
    },
    stop: () => bar.stop(),
  };
}

function tellByLines(): Progress {
  let told = performance.now();
  return {
    tell(done, of) {
      if (performance.now() - told < PROGRESS_EVERY_MS) return;
      told = performance.now();
      console.error(`${done} of ${of} …`);
    },
    stop: () => undefined,
  };
}

/**
 * `dead-letter discard ID|--all`: open letters are given up; they can be looked at for 30 more
 * days.
 */
export async function discardDeadLettersCommand(
  config: Config,
  named: Named,
  { json }: { json: boolean },
): Promise<number> {
  const now = Date.now();
  const discarded = await withDatabase(config, async (database) => {
    if (!("id" in named)) return discardDeadLetters(database, named.filter, now);
    const { id } = await namedLetter(database, named.id);
    const count = await discardDeadLetters(database, { id }, now);
    if (count > 0) return count;
    const { state } = await namedLetter(database, id);
    throw new Failure(
      "CONFLICT",
      state === "rows_stand"
        ? `Dead letter ${shortId(id)} cannot be discarded yet: ${ROWS_STAND}`
        : `Dead letter ${shortId(id)} was ${state} before.`,
    );
  });
  if (json) console.log(JSON.stringify({ discarded }));
  else
    console.log(
      `${discarded} discarded. \`dead-letter show\` prints a discarded letter for 30 more days.`,
    );
  return 0;
}

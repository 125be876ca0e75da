import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest test files, slowest first: begun last, one of them alone would hold up the end of the run. */
const SLOWEST = [
  "control-plane/pages/documents/hostile.flow.test.ts",
  "platform/event-log/contract.test.ts",
  "testing/hostile/hostile.flow.test.ts",
  "platform/event-log/kafka.test.ts",
  "roles/start.flow.test.ts",
  "control-plane/pages/documents/accessible.flow.test.ts",
  "processors/due-work/keep-retention.flow.test.ts",
  "roles/push-to-receivers.flow.test.ts",
  "deploy/cluster.flow.test.ts",
  "processors/errors/exactly-once.flow.test.ts",
  "clients/cli/dead-letter.flow.test.ts",
  "roles/kafka.flow.test.ts",
  "platform/event-log/kafka/security.test.ts",
  "roles/kill-under-load.flow.test.ts",
  "domain/webhooks/histories.flow.test.ts",
  "roles/spool.flow.test.ts",
  "clients/browser/counting.flow.test.ts",
  "clients/browser/safety.flow.test.ts",
  "processors/errors/overflow.flow.test.ts",
  "clients/browser/reports.flow.test.ts",
  "processors/consume/row-store.flow.test.ts",
  "processors/errors/creation-bounds.flow.test.ts",
  "platform/event-log/kafka/compression.test.ts",
  "ingest/heartbeat.flow.test.ts",
  "processors/errors/seen-events/reads-little.flow.test.ts",
  "clients/browser/delivery.flow.test.ts",
];

/** Without it Vitest begins with the largest files, which are not the slowest ones, wherever it has not run before. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = SLOWEST.findIndex((name) => moduleId.endsWith(`/${name}`));
      return place === -1 ? SLOWEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

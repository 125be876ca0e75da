import type { ClaimedDelivery } from "../../domain/deliveries/claim.ts";

/** The attempts that are being made, counted by webhook and by organization. */
export function makeRunning() {
  const attempts = new Map<ClaimedDelivery, Promise<void>>();
  const webhooks = new Map<string, number>();
  const organizations = new Map<string, number>();

  function count(counts: Map<string, number>, id: string, change: 1 | -1): void {
    const next = (counts.get(id) ?? 0) + change;
    if (next === 0) counts.delete(id);
    else counts.set(id, next);
  }

  return {
    add(claimed: ClaimedDelivery, attempt: Promise<void>): void {
      attempts.set(claimed, attempt);
      count(webhooks, claimed.webhookId, 1);
      count(organizations, claimed.organizationId, 1);
    },
    delete(claimed: ClaimedDelivery): void {
      attempts.delete(claimed);
      count(webhooks, claimed.webhookId, -1);
      count(organizations, claimed.organizationId, -1);
    },
    size: () => attempts.size,
    counts: () => ({ webhooks, organizations }),
    async finished(): Promise<void> {
      await Promise.all(attempts.values());
    },
  };
}

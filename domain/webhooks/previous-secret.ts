/** How long the secret before a rotation stays valid: receivers have that long to take the new one. */
export const ROTATION_MS = 24 * 60 * 60_000;

/** The secret before the last rotation, as a webhook's row has it. */
export interface PreviousSecret {
  previousSecret: string | null;
  previousSecretExpiresAt: Date | null;
}

/** The secret before the last rotation while it is valid: deliveries are then signed with both. Null afterwards. */
export function validPreviousSecret({ previousSecret, previousSecretExpiresAt }: PreviousSecret, at: Date): string | null {
  return previousSecret && previousSecretExpiresAt && at < previousSecretExpiresAt ? previousSecret : null;
}

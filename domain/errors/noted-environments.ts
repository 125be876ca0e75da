import { makeBoundedMap } from "../../platform/bounded-map.ts";

/** An environment in which a signature has events. */
export interface SignatureEnvironment {
  signatureId: string;
  environment: string;
}

/**
 * Environments of signatures that stand in PostgreSQL for certain. A pair is only deleted with its signature, and
 * a signature that is merged leaves its pairs to the other. So what was committed is true until PostgreSQL is restored.
 */
export interface NotedEnvironments {
  isNoted(signatureId: string, environment: string): boolean;
  /** Remembers pairs whose transaction was committed. */
  remember(pairs: Iterable<SignatureEnvironment>): void;
  /** Forgets all: PostgreSQL may be older than what is remembered. */
  forget(): void;
}

const MOST_SIGNATURES = 400_000;
/** Of one signature; the others are asked for each time. */
const MOST_ENVIRONMENTS = 100;

/** Without anything noted. */
export function makeNotedEnvironments(): NotedEnvironments {
  // Most have one: an array takes a quarter of what a Set does.
  const bySignature = makeBoundedMap<string, string[]>(MOST_SIGNATURES);
  return {
    isNoted: (signatureId, environment) => bySignature.get(signatureId)?.includes(environment) ?? false,
    remember(pairs) {
      for (const { signatureId, environment } of pairs) {
        const noted = bySignature.get(signatureId);
        if (noted === undefined) bySignature.set(signatureId, [environment]);
        else if (noted.length < MOST_ENVIRONMENTS && !noted.includes(environment)) noted.push(environment);
      }
    },
    forget: () => bySignature.clear(),
  };
}

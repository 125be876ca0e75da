import { Failure } from "../../platform/failures.ts";

interface ShownService {
  id: string;
  name: string;
}

/**
 * Ids of the services that somebody wants to hear of, each given by id or exact name, of those that a page shows. INVALID_REQUEST with
 * the place of one that it does not show or that several have as their name.
 */
export function findWanted(shown: readonly ShownService[], references: readonly string[]): string[] {
  const ids = references.map((reference, index) => {
    const text = reference.trim();
    const byId = shown.find(({ id }) => id === text.toLowerCase());
    const byName = shown.filter(({ name }) => name === text);
    const found = byId ?? (byName.length === 1 ? byName[0] : undefined);
    if (found) return found.id;
    const sentence = byName.length > 1 ? `Several services of this page are called "${text}".` : `This page shows no service with the name or id "${text}".`;
    throw new Failure("INVALID_REQUEST", sentence, { path: `/services/${index}`, fix: "Name services as the page does, or by id." });
  });
  return [...new Set(ids)];
}

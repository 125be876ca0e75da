import type { BriefRow } from "../../domain/errors/brief-rows.ts";
import type { CreationRoom } from "../../domain/errors/bound-new.ts";
import { roomLeft, type CreationDay } from "../../domain/errors/creation-bounds.ts";
import { readKnown } from "../../domain/errors/read-known.ts";
import { OTHER_ENVIRONMENT, tooManyId } from "../../domain/errors/too-many.ts";
import { makeBoundedMap, type BoundedMap } from "../../platform/bounded-map.ts";
import type { Database } from "../../platform/postgres/database.ts";

/** Signatures and environments that are known to exist: nearly all events are of those. */
export interface KnownSignatures {
  /**
   * Looks up what is not known of these rows, in one query; in none when all is known. Returns the
   * room of services that have something unknown, null when nothing is.
   */
  lookUp(rows: Iterable<BriefRow>, today: CreationDay): Promise<((serviceId: string) => CreationRoom) | null>;
  isKnownSignature(id: string): boolean;
  isKnownEnvironment(organizationId: string, environment: string): boolean;
}

const REMEMBERED = 400_000;
const REMEMBERED_ENVIRONMENTS = 10_000;

/** Without anything known. */
export function makeKnownSignatures(database: Database): KnownSignatures {
  const signatures = makeBoundedMap<string, true>(REMEMBERED);
  const environments = makeBoundedMap<string, true>(REMEMBERED_ENVIRONMENTS);

  return {
    async lookUp(rows, { bounds, day }) {
      const unknown = unknownIn(rows, signatures, environments);
      if (unknown.services.size === 0) return null;
      const answer = await readKnown(database, {
        signatureIds: [...unknown.signatures],
        environments: [...unknown.environments.values()],
        serviceIds: [...unknown.services],
        day,
      });
      const missing = new Set(answer.unknownSignatureIds);
      for (const id of unknown.signatures) if (!missing.has(id)) signatures.set(id, true);
      for (const { organizationId, environment } of answer.environments) environments.set(keyOf(organizationId, environment), true);
      const made = new Map(answer.made.map(({ serviceId, kind, count }) => [`${serviceId} ${kind}`, count]));
      return (serviceId) => ({
        signatures: roomLeft(bounds.signatures, made.get(`${serviceId} signature`) ?? 0),
        environments: roomLeft(bounds.environments, made.get(`${serviceId} environment`) ?? 0),
      });
    },
    isKnownSignature: (id) => signatures.has(id),
    isKnownEnvironment: (organizationId, environment) => environments.has(keyOf(organizationId, environment)),
  };
}

interface Unknown {
  signatures: Set<string>;
  environments: Map<string, { organizationId: string; environment: string }>;
  services: Set<string>;
}

/** With an unknown signature that of what is too many is looked up too: the row may become one of it. */
function unknownIn(rows: Iterable<BriefRow>, signatures: BoundedMap<string, true>, environments: BoundedMap<string, true>): Unknown {
  const unknown: Unknown = { signatures: new Set(), environments: new Map(), services: new Set() };
  for (const { type, service_id: service, signature_id: id, organization_id: organizationId, environment } of rows) {
    if (type === "vital") continue;
    if (!signatures.has(id)) {
      unknown.signatures.add(id).add(tooManyId(service));
      unknown.services.add(service);
    }
    const key = keyOf(organizationId, environment);
    if (environment !== OTHER_ENVIRONMENT && !environments.has(key)) {
      unknown.environments.set(key, { organizationId, environment });
      unknown.services.add(service);
    }
  }
  return unknown;
}

function keyOf(organizationId: string, environment: string): string {
  return `${organizationId} ${environment}`;
}

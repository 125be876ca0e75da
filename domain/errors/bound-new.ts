import type { BriefRow } from "./brief-rows.ts";
import { OTHER_ENVIRONMENT, tooManyId } from "./too-many.ts";

/** What a service may still make today. */
export interface CreationRoom {
  signatures: number;
  environments: number;
}

/** What a row gets in place of its own. */
export type BoundValues = Partial<Pick<BriefRow, "signature_id" | "environment">>;

interface NewThings {
  /** Rows that are inserted, in the order in which they may make something. */
  rows: readonly BriefRow[];
  /** Rows that stand already: what is new in them is made in any case. */
  standing: readonly BriefRow[];
  isKnownSignature(id: string): boolean;
  isKnownEnvironment(organizationId: string, environment: string): boolean;
  roomOf(serviceId: string): CreationRoom;
}

/**
 * Decides which rows of a batch may make a signature or an environment. The others get the
 * signature of what is too many, and the environment of all others. Vitals make neither. Pure.
 */
export function boundNew(things: NewThings): Map<BriefRow, BoundValues> {
  const { rows, standing, roomOf } = things;
  const rooms = new Map<string, CreationRoom>();
  const made = new Set<string>();

  /** Takes what is not known from the room. Returns false when there is none left. */
  function take(kind: keyof CreationRoom, key: string, serviceId: string, must: boolean): boolean {
    if (made.has(key)) return true;
    const room = rooms.get(serviceId) ?? { ...roomOf(serviceId) };
    rooms.set(serviceId, room);
    if (room[kind] <= 0 && !must) return false;
    room[kind]--;
    made.add(key);
    return true;
  }

  function mayMakeSignature({ signature_id: id, service_id: service }: BriefRow, must: boolean): boolean {
    if (things.isKnownSignature(id) || id === tooManyId(service)) return true;
    return take("signatures", id, service, must);
  }

  function mayMakeEnvironment(row: BriefRow, must: boolean): boolean {
    const { organization_id: organization, environment } = row;
    if (environment === OTHER_ENVIRONMENT) return true;
    if (things.isKnownEnvironment(organization, environment)) return true;
    return take("environments", `${organization} ${environment}`, row.service_id, must);
  }

  for (const row of standing) {
    if (row.type === "vital") continue;
    mayMakeSignature(row, true);
    mayMakeEnvironment(row, true);
  }
  const bound = new Map<BriefRow, BoundValues>();
  for (const row of rows) {
    if (row.type === "vital") continue;
    const values: BoundValues = {};
    if (!mayMakeSignature(row, false)) values.signature_id = tooManyId(row.service_id);
    if (!mayMakeEnvironment(row, false)) values.environment = OTHER_ENVIRONMENT;
    if (values.signature_id ?? values.environment) bound.set(row, values);
  }
  return bound;
}

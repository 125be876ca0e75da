/** Who does something, for tenancy and the audit log. Made at the doors, passed to every verb. */
export interface Actor {
  /** Everything the actor reads or writes belongs to this organization. */
  organizationId: string;
  type: "api_key" | "cli" | "system";
  /** The API key's id, null for the command line and the service itself. */
  id: string | null;
  name: string;
  ip: string | null;
  userAgent: string | null;
}

/** The service itself acting for an organization: a threshold crossed, a monitor late. */
export function systemActor(organizationId: string, name: string): Actor {
  return { organizationId, type: "system", id: null, name, ip: null, userAgent: null };
}

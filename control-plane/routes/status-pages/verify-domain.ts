import { verifyDomain as verify } from "../../../domain/status-pages/verify-domain.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { VerifiedDomain } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const verifyDomain = route({
  method: "POST",
  path: "/status-pages/:id/verify-domain",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Look for the proof of a page's domain",
  description: "Asks the DNS for `custom_domain_record` now. With it the page stands at its domain; without it the domain is `failed`, and `warning` says what is missing. CONFLICT: another page has proven the domain.",
  params: PathId,
  response: VerifiedDomain,
  failures: ["CONFLICT", "UNAVAILABLE"],
  commitsEarly: true,
  handle: ({ params, actor, needs }) => verify(needs, actor, params.id, new Date(needs.clock.now())),
});

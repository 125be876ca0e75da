import type { FastifyRequest } from "fastify";
import type { Visitor } from "../../../domain/status-pages/judge-visitor.ts";
import { passIn } from "./pass-cookie.ts";

interface VisitNeeds {
  /** The client's, past proxies. */
  addressOf(request: FastifyRequest): string;
  /** Milliseconds since the epoch. */
  now: number;
}

/** What a request brings to be judged by; a token that is given twice is given not at all. */
export function visitorOf(request: FastifyRequest, page: { id: string } | null, { addressOf, now }: VisitNeeds): Visitor {
  const { access, preview } = request.query as Record<string, unknown>;
  return {
    // Read only for pages that judge by it: most do not.
    get address() {
      return addressOf(request);
    },
    access: typeof access === "string" ? access : null,
    pass: page && passIn(request.headers.cookie, page),
    preview: typeof preview === "string" ? preview : null,
    now,
  };
}

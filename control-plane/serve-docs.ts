import type { FastifyInstance } from "fastify";
import scalar from "@scalar/fastify-api-reference";
import { Failure } from "../platform/failures.ts";

/** The reference's page has its settings inline and makes styles as it goes; it may load nothing from elsewhere. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

/** `/openapi.json` and, made from it, the reference that people browse at `/docs`; both work without the internet. */
export async function serveDocs(app: FastifyInstance): Promise<void> {
  let text: string | null = null;
  app.get("/openapi.json", async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    return reply.header("Content-Type", "application/json; charset=utf-8").header("Access-Control-Allow-Origin", "*").send(text);
  });

  await app.register(scalar, {
    routePrefix: "/docs",
    configuration: {
      url: "/openapi.json",
      pageTitle: "Pharos API",
      authentication: { preferredSecurityScheme: "apiKey" },
      // Fonts and tools of the library's maker would be asked of its servers.
      withDefaultFonts: false,
      hideClientButton: true,
      showDeveloperTools: "never",
    },
    hooks: {
      onRequest: (request, reply, done) => {
        // The reference makes a URL of the Host header.
        if (!URL.canParse(`http://${request.hostname}`)) return done(new Failure("INVALID_REQUEST", "The Host header is not valid."));
        void reply.header("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        done();
      },
    },
  });
}

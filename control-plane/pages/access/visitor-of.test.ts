import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Visitor } from "../../../domain/status-pages/judge-visitor.ts";
import { visitorOf } from "./visitor-of.ts";

const page = { id: "5c1f8f6e-1111-4222-8333-444455556666" };
const nobody = { address: "203.0.113.7", access: null, pass: null, preview: null, now: 12 };

let app: FastifyInstance;
let read: (request: FastifyRequest) => Visitor;
beforeAll(async () => {
  app = fastify();
  app.get("/", (request, reply) => void reply.send(read(request)));
  await app.ready();
});
afterAll(() => app.close());

it.each([
  { name: "nothing", url: "/", brings: {} },
  { name: "both tokens", url: "/?access=a.b&preview=c.d", brings: { access: "a.b", preview: "c.d" } },
  { name: "an empty one", url: "/?access=", brings: { access: "" } },
  { name: "one that is given twice", url: "/?access=a&access=b&preview=c", brings: { preview: "c" } },
  { name: "a name in brackets", url: "/?access[]=a&preview[x]=b", brings: {} },
  { name: "a pass", url: "/", cookie: "pharos_page_5c1f8f6e=1.x", brings: { pass: "1.x" } },
  { name: "a pass among others", url: "/", cookie: "a=b;pharos_page_5c1f8f6e=1.x ; pharos_page_ffffffff=2.y", brings: { pass: "1.x" } },
  { name: "the first of two passes", url: "/", cookie: "pharos_page_5c1f8f6e=1.x; pharos_page_5c1f8f6e=2.y", brings: { pass: "1.x" } },
  { name: "a value with =", url: "/", cookie: "pharos_page_5c1f8f6e=1=x", brings: { pass: "1=x" } },
  { name: "a name that begins or ends like it", url: "/", cookie: "xpharos_page_5c1f8f6e=1.x; pharos_page_5c1f8f6ef=2.y; Pharos_page_5c1f8f6e=3.z; pharos_page_5c1f8f6e", brings: {} },
  { name: "a pass of another page", url: "/", cookie: "pharos_page_ffffffff=2.y", brings: {} },
])("a request with $name", async ({ url, cookie, brings }) => {
  read = (request) => visitorOf(request, page, { addressOf: () => "203.0.113.7", now: 12 });
  const answer = await app.inject({ method: "GET", url, headers: cookie === undefined ? {} : { cookie } });
  expect(answer.json()).toEqual({ ...nobody, ...brings });
});

it("for a page that does not exist brings no pass", async () => {
  read = (request) => visitorOf(request, null, { addressOf: () => "203.0.113.7", now: 12 });
  expect((await app.inject({ method: "GET", url: "/?access=a", headers: { cookie: "pharos_page_5c1f8f6e=1.x" } })).json()).toEqual({ ...nobody, access: "a" });
});

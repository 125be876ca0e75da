import { Subscribe, SubscribeAnswer } from "../schemas/api/subscribers.ts";
import { json, jsonSchema, type Operation } from "./describe-ingest.ts";

const SLUG = { name: "slug", in: "path", required: true, description: "The page's slug.", schema: { type: "string" }, example: "acme" };
const ACCESS = { name: "access", in: "query", required: false, description: "For a private page, what its access link carries.", schema: { type: "string" } };

const REFUSALS = {
  "400": "The body is not valid, or its URL is one that nothing would be sent to.",
  "403": "The page has as many subscribers as its organization's plan allows (PLAN_LIMIT): 250, 5,000 or 100,000.",
  "404": "There is no such page, this visitor may not see it, or it takes no subscribers.",
  "413": "The body is too large.",
  "415": "The body is neither JSON nor a form.",
  "429": "Too many subscriptions from this client's address in this minute or from its network in this day, or to the organization's pages in this day.",
  "503": "This service sends no mail, or cannot be asked for the moment.",
};

/** What visitors of a page ask without a key, described by hand. `failure` is the schema of error answers. */
export function describeSubscribing(failure: object): Record<string, Record<string, Operation>> {
  const refusals = Object.entries(REFUSALS).map(([status, description]) => [status, json(description, failure)]);
  return {
    "/pages/{slug}/subscribers": {
      post: {
        operationId: "postPagesBySlugSubscribers",
        tags: ["Subscribers"],
        summary: "Subscribe to a page",
        description:
          "Needs no key. The address is sent a link and hears of the page once somebody has followed it; the answer is the same whatever is known of the address. " +
          "An address gets one such mail in ten minutes and five in a day. `services` (ids or names) narrows what it hears of. Browsers may send the page's form (application/x-www-form-urlencoded), and get a page.",
        security: [],
        parameters: [SLUG, ACCESS],
        requestBody: { required: true, content: { "application/json": { schema: jsonSchema(Subscribe), example: { email: "ada@example.com", services: ["Checkout"] } } } },
        responses: { "202": json("Taken in.", jsonSchema(SubscribeAnswer)), ...Object.fromEntries(refusals) as Record<string, object> },
      },
    },
  };
}

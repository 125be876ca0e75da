import { z } from "zod";
import { SCOPES } from "../vocabulary.ts";
import { limit, Name, Offset, Timestamp } from "./shared.ts";

const ScopeName = z.enum(SCOPES);

export const ApiKey = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Deploy script" }),
    prefix: z.string().meta({ description: "The key's first 12 characters.", example: "psk_1a2B3c4D" }),
    scopes: z.array(ScopeName).meta({ example: ["services:read", "incidents:write"] }),
    expires_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().meta({ description: "Exact to about a minute." }),
    created_at: Timestamp,
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyListQuery = z.object({ limit: limit(100, 500), offset: Offset });
export type ApiKeyListQuery = z.infer<typeof ApiKeyListQuery>;
export const ApiKeyList = z.object({ api_keys: z.array(ApiKey) });

export const CreatedApiKey = z.object({
  api_key: ApiKey,
  key: z.string().meta({ description: "The key itself. It is shown this once and not stored." }),
});
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const CreateApiKey = z
  .strictObject({
    name: Name.meta({ example: "Deploy script" }),
    scopes: z
      .array(ScopeName)
      .min(1)
      .max(SCOPES.length)
      .meta({ description: "What the key may do; only what the key that makes it may do itself. A write scope does not imply read.", example: ["services:read", "incidents:write"] }),
    expires_at: Timestamp.nullish().meta({ description: "When the key stops working; when left out it is when the key that makes it stops, or never.", example: "2027-01-31T00:00:00Z" }),
  })
  .meta({ id: "CreateApiKey" });
export type CreateApiKey = z.infer<typeof CreateApiKey>;

/** What is read of a JSON Schema; everything else of it is of no concern here. */
export interface ExampleSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  example?: unknown;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: ExampleSchema[];
  oneOf?: ExampleSchema[];
  allOf?: ExampleSchema[];
  properties?: Record<string, ExampleSchema>;
  required?: string[];
  items?: ExampleSchema;
  prefixItems?: ExampleSchema[];
  minItems?: number;
  format?: string;
  minimum?: number;
  exclusiveMinimum?: number;
}

type Schemas = Record<string, ExampleSchema>;

const OF_FORMATS: Record<string, string> = {
  uuid: "0b9a3c4e-5d6f-4a1b-8c2d-3e4f5a6b7c8d",
  "date-time": "2026-01-31T12:00:00.000Z",
  date: "2026-01-31",
  email: "ops@example.com",
  uri: "https://example.com/",
};

/** Recursive schemas, such as steps within steps, are shown this deep. */
const MAX_DEPTH = 6;

/**
 * An example of a body, put together from the examples of its fields; what has none is shown by its default, its first
 * allowed value or its format. Optional fields without an example of their own are left out of requests.
 */
export function makeExample(schema: ExampleSchema, schemas: Schemas, depth = 0): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  if (schema.$ref !== undefined) return makeExample(schemas[schema.$ref.split("/").pop()!] ?? {}, schemas, depth);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices?.length) return makeExample(choices[0]!, schemas, depth);
  if (schema.allOf?.length) return Object.assign({}, ...schema.allOf.map((part) => makeExample(part, schemas, depth))) as unknown;
  return ofType(schema, schemas, depth);
}

function ofType(schema: ExampleSchema, schemas: Schemas, depth: number): unknown {
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return ofFields(schema, schemas, depth);
    case "array":
      if (schema.prefixItems) return schema.prefixItems.map((item) => makeExample(item, schemas, depth + 1));
      return Array.from({ length: Math.max(schema.minItems ?? 0, depth < MAX_DEPTH ? 1 : 0) }, () => makeExample(schema.items ?? {}, schemas, depth + 1));
    case "string":
      return OF_FORMATS[schema.format ?? ""] ?? "text";
    case "integer":
    case "number":
      return schema.minimum !== undefined && schema.minimum > -Number.MAX_SAFE_INTEGER ? schema.minimum : (schema.exclusiveMinimum ?? 0) + 1;
    case "boolean":
      return true;
    default:
      return null;
  }
}

function ofFields({ properties = {}, required = [] }: ExampleSchema, schemas: Schemas, depth: number): Record<string, unknown> {
  const shown = Object.entries(properties).filter(([name, field]) => required.includes(name) || (depth < MAX_DEPTH && hasOwnExample(field, schemas)));
  return Object.fromEntries(shown.map(([name, field]) => [name, makeExample(field, schemas, depth + 1)]));
}

function hasOwnExample(schema: ExampleSchema, schemas: Schemas): boolean {
  if (schema.$ref !== undefined && schema.example === undefined) return hasOwnExample(schemas[schema.$ref.split("/").pop()!] ?? {}, schemas);
  return schema.example !== undefined || (schema.examples?.length ?? 0) > 0;
}

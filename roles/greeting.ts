import type { Pharos } from "./start.ts";

/** What a person reads when the service is ready; keys only on the first start, when they are made. */
export function greeting({ baseUrl, edgeUrl, demo }: Pick<Pharos, "baseUrl" | "edgeUrl" | "demo">): string {
  const lines = ["", "Pharos is ready.", ""];
  if (baseUrl) lines.push(`  Start page    ${baseUrl}/`, `  API reference ${baseUrl}/docs`);
  if (edgeUrl) lines.push(`  Fast ingest   ${edgeUrl}`);
  if (!demo || !baseUrl) return [...lines, ""].join("\n");
  return [
    ...lines,
    `  Demo page     ${baseUrl}/pages/${demo.pageSlug}`,
    "",
    "A demo organization was made. Its keys are shown this once:",
    "",
    `  API key       ${demo.apiKey}`,
    `  Beacon key    ${demo.beaconKey}`,
    "",
    "Try it:",
    "",
    `  curl -H 'X-API-Key: ${demo.apiKey}' ${baseUrl}/api/v1/services`,
    `  curl -H 'X-API-Key: ${demo.apiKey}' -H 'Content-Type: application/json' -d '{"service_id":"${demo.serviceId}","metrics":{"error_rate":12}}' ${baseUrl}/api/metrics/ingest`,
    `  curl -d '{"key":"${demo.beaconKey}","events":[{"type":"error","error_type":"TypeError","message":"x is not a function","stack":"TypeError: x is not a function\\n    at buy (https://shop.example/app.js:10:15)"}]}' ${baseUrl}/api/beacon`,
    "",
  ].join("\n");
}

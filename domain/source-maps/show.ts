import type { SourceMap } from "../../schemas/api/source-maps.ts";
import type { sourceMaps } from "../../schemas/tables/all.ts";

export function showSourceMap(row: typeof sourceMaps.$inferSelect, sizeBytes: number): SourceMap {
  const { id, url, release, serviceId, debugId, uploadedAt } = row;
  return { id, url, release, service_id: serviceId, debug_id: debugId, size_bytes: sizeBytes, uploaded_at: uploadedAt.toISOString() };
}

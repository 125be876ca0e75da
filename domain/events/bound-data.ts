/** With what stands around it, an event is then at most 256 KiB on its way. */
const MOST_BYTES = 240 * 1_024;
/** So few names fit, however long they are. */
const SOME = 200;

/**
 * An event's data as it may go out. Of services, which are names that people chose and can be thousands, as many as fit; `services_total` then says how
 * many there are.
 */
export function boundEventData(data: Record<string, unknown>): Record<string, unknown> {
  const { services } = data;
  if (!Array.isArray(services) || services.length <= SOME) return data;
  let left = MOST_BYTES - bytesOf({ ...data, services: [] });
  const kept = services.findIndex((each) => (left -= bytesOf(each) + 1) < 0);
  return kept === -1 ? data : { ...data, services: services.slice(0, kept), services_total: services.length };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

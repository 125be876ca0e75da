import type { ChannelType } from "../../schemas/vocabulary.ts";

/** A channel's config as it is stored. */
export type ChannelConfig = Record<string, string>;

/** Shorter secrets are hidden whole: four of a few characters would be too many. */
const SHORTEST_WITH_ENDING = 16;

type Mask = (value: string) => string;

const MASKS: Record<string, Mask> = {
  webhook_url: maskUrl,
  url: maskUrl,
  routing_key: maskText,
  secret: maskText,
};

/** A config as anybody may see it: enough to tell one from another, not enough to use it. */
export function maskConfig(config: ChannelConfig): ChannelConfig {
  return Object.fromEntries(Object.entries(config).map(([field, value]) => [field, MASKS[field]?.(value) ?? value]));
}

/**
 * A config as the audit log is given it. The log masks by a field's name, and `url` is an innocent name there:
 * under that of the other hook URLs a change is told and the value is hidden.
 */
export function auditedConfig(type: ChannelType, { url, ...config }: ChannelConfig): ChannelConfig {
  return type === "webhook" && url !== undefined ? { ...config, webhook_url: url } : config;
}

/** The secret of a hook URL is in its path or query; its host says where it goes. */
function maskUrl(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}/${maskText(`${url.pathname.slice(1)}${url.search}`)}` : maskText(text);
}

function maskText(text: string): string {
  return text.length >= SHORTEST_WITH_ENDING ? `…${text.slice(-4)}` : "…";
}

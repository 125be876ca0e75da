const MASK = "[masked]";

/** Field names whose values are secrets, as they occur in resources: signing_secret, routing_key, webhook_url, status_page_password … A design's theme_tokens are none. */
const SECRET_NAME = /secret|password(?!_hint)|(?<!^theme_)token|authorization|cookie|credential|^key$|_key$|^hash$|^webhook_url$/i;

/** Maps of names that people choose: any of their values may be a secret, whatever it is called. */
const SECRET_MAPS = new Set(["headers"]);

/**
 * A copy without the values of secrets, at any depth. Names stay, so that it can be seen that one was set;
 * null and empty stay too, so that it can be seen that none was.
 */
export function maskSecrets(value: unknown, name = "", insideSecretMap = false): unknown {
  if (value === null || value === undefined || value === "") return value;
  if (Array.isArray(value)) return value.map((each) => maskSecrets(each, name, insideSecretMap));
  if (value instanceof Date) return value;
  if (typeof value === "object") {
    const secretMap = insideSecretMap || SECRET_MAPS.has(name) || SECRET_NAME.test(name);
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, maskSecrets(inner, field, secretMap)]));
  }
  return insideSecretMap || (typeof value === "string" && SECRET_NAME.test(name)) ? MASK : value;
}

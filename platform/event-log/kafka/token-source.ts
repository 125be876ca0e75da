interface TokenSourceNeeds {
  /** Of an OAuth 2 server's token endpoint. */
  url: string;
  clientId: string;
  secret: string;
  scope: string | null;
}

const TIMEOUT_MS = 5_000;
/** Without `expires_in` a token is asked for this often. */
const UNKNOWN_LIFE_S = 300;
/** A token is used for this part of its life, so that none ends on its way. */
const USED_SHARE = 0.8;

/**
 * Gives tokens of an OAuth 2 server, asked for by client credentials (RFC 6749, 4.4) and kept for most of their life; who asks
 * at the same time shares a request. Rejects with a sentence that holds no secret.
 */
export function makeTokenSource({ url, clientId, secret, scope }: TokenSourceNeeds): () => Promise<string> {
  let kept: { token: string; until: number } | null = null;
  let asking: Promise<string> | null = null;

  async function ask(): Promise<string> {
    const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString("base64");
    const answer = await fetch(url, {
      method: "POST",
      headers: { authorization: `Basic ${credentials}`, accept: "application/json" },
      body: new URLSearchParams({ grant_type: "client_credentials", ...(scope !== null && { scope }) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new Error(`KAFKA_SASL_TOKEN_URL could not be reached: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    });
    const said = (await answer.json().catch(() => null)) as { access_token?: unknown; expires_in?: unknown } | null;
    const token = said?.access_token;
    if (!answer.ok || typeof token !== "string") throw new Error(`KAFKA_SASL_TOKEN_URL answered ${answer.status} without a token.`);
    const seconds = typeof said?.expires_in === "number" && said.expires_in > 0 ? said.expires_in : UNKNOWN_LIFE_S;
    kept = { token, until: performance.now() + USED_SHARE * 1_000 * seconds };
    return token;
  }

  return async () => {
    if (kept && performance.now() < kept.until) return kept.token;
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
}

/** An escape that PostgreSQL's jsonb refuses: NUL or half of a surrogate pair. The first alternative steps over escaped backslashes. */
const UNSTORABLE = /\\\\|\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/**
 * JSON that PostgreSQL can store. What machines and strangers send ends up in events and audit entries; one odd
 * character in it must not fail the whole batch, so it becomes U+FFFD.
 */
export function storableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSTORABLE, (escape) => (escape === "\\\\" ? escape : "\ufffd"));
}

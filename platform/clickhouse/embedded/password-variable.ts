/** Names the environment variable by which a parent gives its embedded ClickHouse a password. */
export const PASSWORD_VARIABLE = "PHAROS_EMBEDDED_CLICKHOUSE_PASSWORD";

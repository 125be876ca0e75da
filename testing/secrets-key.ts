/** SECRETS_KEY of tests, faults and benchmarks, whose processes share a database and not always a data folder. */
export const TEST_SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");

import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import type { KafkaConfig } from "kafkajs";
import type { Config } from "../../config.ts";
import { StartFailure } from "../../start-failure.ts";
import { makeTokenSource } from "./token-source.ts";

/** How connections to Kafka are encrypted and who logs in; both null for a broker that asks for neither. */
export interface KafkaSecurity {
  tls: Pick<ConnectionOptions, "ca" | "cert" | "key"> | null;
  login: KafkaLogin | null;
}

/** Brokers that ask for no encryption and no login. */
export const OPEN_KAFKA: KafkaSecurity = { tls: null, login: null };

interface Password {
  username: string;
  password: string;
}

export type KafkaLogin =
  | ({ mechanism: "plain" } & Password)
  | ({ mechanism: "scram-sha-256" } & Password)
  | ({ mechanism: "scram-sha-512" } & Password)
  /** `token` gives one that is valid for some time yet. */
  | { mechanism: "oauthbearer"; token(): Promise<string> };

type KafkaSettings = { [Name in keyof Config as Name extends `KAFKA_SSL${string}` | `KAFKA_SASL${string}` ? Name : never]: Config[Name] };

/** Reads the files that the settings name; StartFailure when one cannot be read. */
export async function readKafkaSecurity(config: KafkaSettings): Promise<KafkaSecurity> {
  return { tls: config.KAFKA_SSL ? await readTls(config) : null, login: loginOf(config) };
}

async function readTls({ KAFKA_SSL_CA_FILE: ca, KAFKA_SSL_CERT_FILE: cert, KAFKA_SSL_KEY_FILE: key }: KafkaSettings): Promise<KafkaSecurity["tls"]> {
  return {
    ...(ca !== null && { ca: await readSetting("KAFKA_SSL_CA_FILE", ca) }),
    ...(cert !== null && { cert: await readSetting("KAFKA_SSL_CERT_FILE", cert) }),
    ...(key !== null && { key: await readSetting("KAFKA_SSL_KEY_FILE", key) }),
  };
}

async function readSetting(name: string, file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: Error) => {
    throw new StartFailure(`The file of ${name} cannot be read: ${error.message}.`, { cause: error });
  });
}

function loginOf({ KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password, KAFKA_SASL_TOKEN_URL: url, KAFKA_SASL_SCOPE: scope }: KafkaSettings): KafkaLogin | null {
  if (mechanism === "none") return null;
  // That none is missing was checked with the settings.
  const [name, secret] = [username!, password!];
  if (mechanism !== "oauthbearer") return { mechanism, username: name, password: secret };
  return { mechanism, token: makeTokenSource({ url: url!, clientId: name, secret, scope }) };
}

/** The same for kafkajs. */
export function kafkajsSecurity({ tls, login }: KafkaSecurity): Pick<KafkaConfig, "ssl" | "sasl"> {
  if (login === null) return { ssl: tls ?? false };
  if (login.mechanism === "oauthbearer") return { ssl: tls ?? false, sasl: { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: await login.token() }) } };
  return { ssl: tls ?? false, sasl: login };
}

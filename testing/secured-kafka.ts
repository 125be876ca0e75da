import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { makeCertificate, type Certificate } from "./certificate.ts";
import { freePort, startKafka, type Kafka } from "./kafka.ts";

export const KAFKA_USER = { username: "pharos", password: "correct horse=battery" };

export interface SecuredKafka extends Kafka {
  /** Where it takes TLS and asks for a login: by password, SCRAM or token. */
  login: string[];
  /** Where it takes TLS from who has a certificate. */
  byCertificate: string[];
  /** The broker's, and the one that it takes from us. */
  certificate: Certificate;
  /** An OAuth 2 server's token endpoint, for `KAFKA_USER` as a client. */
  tokenUrl: string;
}

/** So long holds a login by SCRAM-SHA-512; then the broker ends its connection, unless it logged in again. kafkajs does so 10 s before, and Kafka takes no second login within a second. */
export const LOGIN_MS = 11_500;

/** A broker that asks who connects, in every way that we know, and the server that gives tokens for it. */
export async function startSecuredKafka(): Promise<SecuredKafka> {
  const certificate = makeCertificate(["127.0.0.1", "localhost"]);
  const [loginPort, certificatePort] = await Promise.all([freePort(), freePort()]);
  const keystore = join(dirname(certificate.file), "keystore.pem");
  writeFileSync(keystore, certificate.key + certificate.cert);
  const { username, password } = KAFKA_USER;
  const module = (name: string, options = "") => `org.apache.kafka.common.security.${name} required${options};`;
  const kafka = await startKafka({
    settingsFor: ({ port, controllerPort }) => ({
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},SASL_SSL://127.0.0.1:${loginPort},SSL://127.0.0.1:${certificatePort}`,
      "advertised.listeners": `PLAINTEXT://127.0.0.1:${port},SASL_SSL://127.0.0.1:${loginPort},SSL://127.0.0.1:${certificatePort}`,
      "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL",
      "inter.broker.listener.name": "PLAINTEXT",
      "ssl.keystore.type": "PEM",
      "ssl.keystore.location": keystore,
      "ssl.truststore.type": "PEM",
      "ssl.truststore.location": certificate.file,
      "listener.name.ssl.ssl.client.auth": "required",
      "listener.name.sasl_ssl.scram-sha-512.connections.max.reauth.ms": String(LOGIN_MS),
      "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
      "listener.name.sasl_ssl.plain.sasl.jaas.config": module("plain.PlainLoginModule", ` user_${username}="${password}"`),
      "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": module("scram.ScramLoginModule"),
      "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": module("scram.ScramLoginModule"),
      "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": module("oauthbearer.OAuthBearerLoginModule", ' unsecuredLoginStringClaim_sub="broker"'),
    }),
    format: ["256", "512"].flatMap((bits) => ["--add-scram", `SCRAM-SHA-${bits}=[name="${username}",password="${password}"]`]),
  });
  const tokens = createServer((request, response) => {
    const expected = `Basic ${Buffer.from([username, password].map(encodeURIComponent).join(":")).toString("base64")}`;
    const isKnown = request.headers.authorization === expected;
    const answer = isKnown ? { access_token: unsecuredToken(), token_type: "Bearer", expires_in: 60 } : { error: "invalid_client" };
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((listening) => tokens.listen(0, "127.0.0.1", listening));
  return {
    ...kafka,
    login: [`127.0.0.1:${loginPort}`],
    byCertificate: [`127.0.0.1:${certificatePort}`],
    certificate,
    tokenUrl: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
    async stop() {
      tokens.close();
      certificate.remove();
      await kafka.stop();
    },
  };
}

/** A token without a signature (RFC 7515, "none"), which Kafka takes unless it is told whom to believe. */
function unsecuredToken(): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: KAFKA_USER.username, iat: now - 1, exp: now + 60 })}.`;
}

import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { KafkaLogin } from "./security.ts";

/** One request of Kafka's protocol and its answer, both without their heads. */
export type AskBroker = (apiKey: number, version: number, body: Buffer) => Promise<Buffer>;

/** Kafka's SaslHandshake and SaslAuthenticate requests (protocol guide). */
const HANDSHAKE = { apiKey: 17, version: 1 };
const AUTHENTICATE = { apiKey: 36, version: 1 };
/** RFC 7677. More than the most would only keep our processor busy. */
const ITERATIONS = { least: 4_096, most: 1_000_000 };

/**
 * Logs a new connection in. Gives how long the login holds, in ms; 0 for as long as the connection. Rejects with what the broker
 * says against it, which holds no secret.
 */
export async function logIn(ask: AskBroker, login: KafkaLogin): Promise<number> {
  const mechanism = login.mechanism.toUpperCase();
  const offered = await ask(HANDSHAKE.apiKey, HANDSHAKE.version, text(mechanism));
  if (offered.readInt16BE(0) !== 0) throw new Error(`Kafka does not offer the login ${mechanism}`);
  let lifeMs = 0;
  const say = async (message: string): Promise<string> => {
    const answer = readAnswer(await ask(AUTHENTICATE.apiKey, AUTHENTICATE.version, bytes(Buffer.from(message))));
    lifeMs = answer.lifeMs;
    return answer.message;
  };
  if (login.mechanism === "plain") await say(`\0${login.username}\0${login.password}`);
  else if (login.mechanism === "oauthbearer") {
    // Whatever is said to a good token is empty.
    const refusal = await say(`n,,\u0001auth=Bearer ${await login.token()}\u0001\u0001`);
    if (refusal !== "") throw new Error(`Kafka refused the token: ${refusal.slice(0, 200)}`);
  } else await logInByScram(say, login.mechanism === "scram-sha-256" ? "sha256" : "sha512", login);
  return lifeMs;
}

/** RFC 5802, without channel binding. */
async function logInByScram(say: (message: string) => Promise<string>, hash: "sha256" | "sha512", { username, password }: { username: string; password: string }): Promise<void> {
  const nonce = randomBytes(24).toString("base64");
  const first = `n=${username.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${nonce}`;
  const challenge = await say(`n,,${first}`);
  const { r: both = "", s: salt = "", i: iterations = "" } = attributesOf(challenge);
  const count = Number(iterations);
  if (!both.startsWith(nonce) || both === nonce || salt === "" || !(count >= ITERATIONS.least && count <= ITERATIONS.most)) throw new Error("Kafka's part of the login by SCRAM is not as it should be");
  const hmac = (key: Buffer, data: string): Buffer => createHmac(hash, key).update(data).digest();
  const salted = await promisify(pbkdf2)(password.normalize("NFKC"), Buffer.from(salt, "base64"), count, hash === "sha256" ? 32 : 64, hash);
  const last = `c=biws,r=${both}`;
  const signed = `${first},${challenge},${last}`;
  const clientKey = hmac(salted, "Client Key");
  const signature = hmac(createHash(hash).update(clientKey).digest(), signed);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ signature[at]!));
  const { v: verifier = "" } = attributesOf(await say(`${last},p=${proof.toString("base64")}`));
  const wanted = hmac(hmac(salted, "Server Key"), signed);
  const given = Buffer.from(verifier, "base64");
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw new Error("the broker does not know the password itself: it may be another than it says");
}

/** `r=…,s=…,i=…` */
function attributesOf(message: string): Record<string, string> {
  return Object.fromEntries(message.split(",").map((part) => [part.slice(0, 1), part.slice(2)]));
}

function readAnswer(answer: Buffer): { message: string; lifeMs: number } {
  const code = answer.readInt16BE(0);
  const reasonLength = Math.max(0, answer.readInt16BE(2));
  const reason = answer.toString("utf8", 4, 4 + reasonLength);
  if (code !== 0) throw new Error(`Kafka refused the login: ${reason || `error ${code}`}`);
  const at = 4 + reasonLength;
  const length = Math.max(0, answer.readInt32BE(at));
  return { message: answer.toString("utf8", at + 4, at + 4 + length), lifeMs: Number(answer.readBigInt64BE(at + 4 + length)) };
}

/** A text with its length, as Kafka writes them. */
export function text(value: string): Buffer {
  const body = Buffer.from(value);
  const head = Buffer.alloc(2);
  head.writeInt16BE(body.length);
  return Buffer.concat([head, body]);
}

function bytes(body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(body.length);
  return Buffer.concat([head, body]);
}

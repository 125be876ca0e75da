CREATE TABLE "secrets_keys" (
	"one" boolean PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL
);

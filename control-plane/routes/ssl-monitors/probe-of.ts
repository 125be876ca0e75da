import { makeCertificateProbe, type CertificateProbe } from "../../../domain/monitors/ssl/probe.ts";
import type { Config } from "../../../platform/config.ts";

const made = new WeakMap<Config, CertificateProbe>();

/** The probe of a process, made when it is first needed: it parses all public authorities. */
export function probeOf(config: Config): CertificateProbe {
  const probe = made.get(config) ?? makeCertificateProbe({ config });
  made.set(config, probe);
  return probe;
}

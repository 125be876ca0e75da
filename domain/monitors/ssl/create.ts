import { Failure } from "../../../platform/failures.ts";
import { newId } from "../../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import type { CreateSslMonitor, SslMonitor } from "../../../schemas/api/ssl-monitors.ts";
import { sslMonitors } from "../../../schemas/tables/all.ts";
import type { Actor } from "../../actor.ts";
import { recordAudit } from "../../audit/record.ts";
import { checkService } from "../../heartbeats/check-service.ts";
import { requireRoom } from "../../organizations/require-room.ts";
import { checkChannels } from "../check-channels.ts";
import type { CertificateProbe, ProbeResult } from "./probe.ts";
import { readHost } from "./read-host.ts";
import { showSslMonitor } from "./read.ts";
import { applySslCheck } from "./record.ts";

interface CreateNeeds {
  database: Database;
  probe: CertificateProbe;
  now(): Date;
}

/**
 * Creates a monitor once its certificate was fetched, whatever that is worth; the first check is recorded as any. INVALID_REQUEST for what is no host name,
 * UNREACHABLE_DOMAIN, CERTIFICATE_UNAVAILABLE, NOT_FOUND for a foreign service or channel, PLAN_LIMIT.
 */
export async function createSslMonitor({ database, probe, now }: CreateNeeds, actor: Actor, input: CreateSslMonitor): Promise<SslMonitor> {
  const { organizationId } = actor;
  const domain = readHost(input.domain);
  const check = async (tx: Transaction) => {
    await requireRoom(tx, organizationId, "monitors");
    await checkService(tx, organizationId, input.service_id);
    return checkChannels(tx, organizationId, input.notification_channels);
  };
  // Before anything is connected to, and not held while that lasts.
  await inTransaction(database, check);
  const result = await probe({ host: domain, port: input.port });
  const refusal = refusalOf(result);
  if (refusal) throw refusal;
  const at = now();
  return inTransaction(database, async (tx) => {
    const notificationChannels = await check(tx);
    const row = { id: newId(), organizationId, serviceId: input.service_id, notificationChannels, domain, port: input.port, alertDays: input.alert_days, dueAt: at, createdAt: at, updatedAt: at };
    const [inserted] = await tx.insert(sslMonitors).values(row).returning();
    const created = showSslMonitor((await applySslCheck(tx, inserted!, { result, at, ends: true })).row);
    await recordAudit(tx, actor, { action: "ssl_monitor.created", resourceType: "ssl_monitor", resourceId: created.id, before: null, after: created });
    return created;
  });
}

function refusalOf(result: ProbeResult): Failure | null {
  if (result.kind === "fetched") return null;
  if (result.kind === "unreachable") return new Failure("UNREACHABLE_DOMAIN", result.error, { path: "/domain", fix: result.fix ?? "Check the domain and the port, and that the server can be reached from the internet." });
  return new Failure("CERTIFICATE_UNAVAILABLE", result.error, { path: "/port", fix: "Name a port where TLS is spoken from the first byte on, such as 443; STARTTLS is not." });
}

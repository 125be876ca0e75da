import { eq } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { organizations } from "../../schemas/tables/all.ts";
import { requirePlan } from "../organizations/require-plan.ts";
import type { Content } from "./compose.ts";

/** PLAN_RESTRICTED when a design holds a template, or a mode that shows one, and the organization's plan has no templates. */
export async function requireTemplatePlan(tx: Transaction, organizationId: string, { template, templateMode }: Pick<Content, "template" | "templateMode">): Promise<void> {
  if (template === null && templateMode === "default") return;
  const [organization] = await tx.select({ plan: organizations.plan }).from(organizations).where(eq(organizations.id, organizationId));
  requirePlan(organization?.plan ?? "free", "custom_template", template === null ? "/template_mode" : "/template");
}

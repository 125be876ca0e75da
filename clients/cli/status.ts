import { StartFailure } from "../../platform/start-failure.ts";

/** `status`: 0 when the service at `url` is ready, 1 when it is not, with the parts that are not. */
export async function statusCommand(url: string): Promise<number> {
  const response = await fetch(`${url}/readyz`).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new StartFailure(`No Pharos answers at ${url} (${cause}). Start it with npm start, or name its address with --url.`);
  });
  const answer = (await response.json()) as { status: string; unready?: Record<string, string> };
  console.log(`${url} is ${answer.status}.`);
  for (const [part, reason] of Object.entries(answer.unready ?? {})) console.log(`  ${part}: ${reason}`);
  return response.ok ? 0 : 1;
}

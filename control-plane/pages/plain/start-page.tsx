import { Layout } from "./layout.tsx";

interface StartPageProps {
  pages: { name: string; slug: string }[];
  /** Null when the process tells nothing of its health. */
  ready: boolean | null;
  styles: string;
}

/** What somebody sees who opens the service's address. */
export function StartPage({ pages, ready, styles }: StartPageProps) {
  return (
    <Layout title="Pharos" styles={styles}>
      <h1>Pharos</h1>
      <p>Status pages, monitoring and error tracking, with a JSON API.</p>
      {ready !== null && <p class={`overall ${ready ? "operational" : "major_outage"}`}>{ready ? "This service is ready" : "This service is not ready"}</p>}

      <h2>Status pages</h2>
      {pages.length === 0 ? (
        <p class="quiet">There is no status page yet.</p>
      ) : (
        <ul class="card">
          {pages.map(({ name, slug }) => (
            <li>
              <a class="name" href={`/pages/${slug}`}>
                <bdi>{name}</bdi>
              </a>
              <p class="quiet">/pages/{slug}</p>
            </li>
          ))}
        </ul>
      )}

      <h2>For programs</h2>
      <ul class="card">
        <li>
          <a href="/docs/">API reference</a>
          <p class="quiet">
            The API stands below <code>/api/v1</code>; each request carries an API key in the <code>X-API-Key</code> header.
          </p>
        </li>
        <li>
          <a href="/openapi.json">OpenAPI document</a>
          <p class="quiet">The same for tools and code generators.</p>
        </li>
        <li>
          <a href="/readyz">Health</a>
          <p class="quiet">
            <code>/readyz</code> names every part that is not ready, <code>/livez</code> says that the process runs, <code>/metrics</code> is for Prometheus.
          </p>
        </li>
      </ul>
    </Layout>
  );
}

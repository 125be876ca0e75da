import { Layout } from "./layout.tsx";

/** A page that says one thing, such as that there is no such page. */
export function MessagePage({ title, message, styles }: { title: string; message: string; styles: string }) {
  return (
    <Layout title={title} styles={styles}>
      <h1>{title}</h1>
      <p>{message}</p>
      <p>
        <a href="/">To the start page</a>
      </p>
    </Layout>
  );
}

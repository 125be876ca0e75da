import type { PageLanguage } from "../../../schemas/vocabulary.ts";
import { pageMessages } from "../messages/all.ts";
import { Layout } from "./layout.tsx";

interface MessagePageProps {
  language: PageLanguage;
  says: "not_found" | "unavailable";
  styles: string;
}

/** A page that says one thing, such as that there is no such page. */
export function MessagePage({ language, says, styles }: MessagePageProps) {
  const words = pageMessages(language);
  return (
    <Layout title={words[says]} styles={styles} language={language}>
      <h1>{words[says]}</h1>
      <p>{words[`${says}_text`]}</p>
      <p>
        <a href="/">{words.to_start}</a>
      </p>
    </Layout>
  );
}

import type { ComponentChildren } from "preact";

interface FilledProps {
  message: string;
  /** Of the placeholder, without braces. */
  name: string;
  children: ComponentChildren;
}

/** A message with an element in the place of its placeholder; `fillIn` does it with texts. */
export function Filled({ message, name, children }: FilledProps) {
  const [before, after = ""] = message.split(`{${name}}`);
  return (
    <>
      {before}
      {children}
      {after}
    </>
  );
}

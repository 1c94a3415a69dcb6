import { listSettings } from "@nightwriter/config";

/** Every setting with its default, as the last paragraph of a help text. */
export function settingsTable(): string {
  const settings = listSettings();
  const width = Math.max(...settings.map(({ variable }) => variable.length));
  const lines = settings.map(({ variable, description, default: byDefault }) =>
    plain(`  ${variable.padEnd(width)}  ${description} (${byDefault})`),
  );
  return ["Settings, from the environment:", ...lines].join("\n");
}

/** Descriptions are Markdown for the README; a terminal shows them without backticks. */
function plain(markdown: string): string {
  return markdown.replaceAll("`", "");
}

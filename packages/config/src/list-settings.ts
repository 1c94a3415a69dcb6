import type { Setting } from "./setting.ts";
import { settings } from "./settings.ts";

/** A setting as a person reads about it. */
export interface SettingDescription {
  /** The environment variable. */
  readonly variable: string;
  /** In Markdown: a fixed text in backticks, or where the default comes from, or `required`. */
  readonly default: string;
  readonly accepts: string;
  readonly description: string;
}

/** Every setting in reading order, for `--help` and for the README's table, which a test holds against it. */
export function listSettings(): readonly SettingDescription[] {
  return Object.values<Setting<unknown>>(settings).map(
    ({ variable, defaultText, defaultNote, accepts, description }) => ({
      variable,
      default: defaultNote ?? (defaultText === undefined ? "required" : `\`${defaultText}\``),
      accepts,
      description,
    }),
  );
}

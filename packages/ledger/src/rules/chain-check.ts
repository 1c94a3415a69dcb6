import type { RawBuilder } from "kysely";
import type { RuleName } from "./rule.ts";

/**
 * A condition on `entry` and `previous`: the entry of the same key whose version is one less, all null where there is none.
 * `broken` may be null, which is not broken.
 */
export interface ChainCheck {
  readonly rule: RuleName;
  readonly measure: string;
  readonly broken: RawBuilder<boolean>;
  readonly expected: RawBuilder<unknown>;
  readonly actual: RawBuilder<unknown>;
}

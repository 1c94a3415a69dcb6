import { hash } from "node:crypto";

/** Where an id is unique. */
export interface IdScope {
  readonly restaurantId: string;
  readonly feed: string;
}

/**
 * What a sale with an id is known by, as a UUID's hexadecimal digits: the first 128 bits of SHA-256 over restaurant, feed and the parts of
 * the id, each with its length before it. Undefined: no part says anything.
 *
 * Blanks around and inside a part do not count, nor does the way an accent is written: exporters differ in those, ids do not.
 */
export function saleHash({ restaurantId, feed }: IdScope, parts: readonly string[]): string | undefined {
  let text = `${restaurantId.length}:${restaurantId}${feed.length}:${feed}`;
  let isEmpty = true;
  for (const part of parts) {
    const plain = plainId(part);
    if (plain !== "") isEmpty = false;
    text += `${plain.length}:${plain}`;
  }
  return isEmpty ? undefined : hash("sha256", text, "hex").slice(0, 32);
}

function plainId(part: string): string {
  return part.normalize("NFC").trim().replaceAll(/\s+/gu, " ");
}

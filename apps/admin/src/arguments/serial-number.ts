import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A number that the database has given to a row. */
export function serialNumber(text: string): bigint {
  if (/^[1-9]\d{0,17}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Write a whole number from 1 on.");
}

import { InvalidArgumentError } from "@commander-js/extra-typings";

/** `1%`, `0.25%`: from none to all of it, as a number from 0 to 1. */
export function parseShare(text: string): number {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  if (percent === undefined || Number(percent) > 100) {
    throw new InvalidArgumentError("Write it in percent, from 0% to 100%.");
  }
  return Number(percent) / 100;
}

/** `2`, `0.5`: not negative, at most a million. */
export function parseRate(text: string): number {
  if (!/^\d{1,7}(?:\.\d{1,6})?$/.test(text) || Number(text) > 1_000_000) {
    throw new InvalidArgumentError("Write a number such as 2 or 0.5, at most 1000000.");
  }
  return Number(text);
}

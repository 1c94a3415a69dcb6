import { InvalidArgumentError } from "@commander-js/extra-typings";

/** A parser of whole numbers within a range, both ends included. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,9}$/.test(text) || number < min || number > max) {
      throw new InvalidArgumentError(`Write a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

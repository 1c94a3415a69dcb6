import { formatMoney } from "../output/money.ts";

/** Paise in a rupee. */
export const RUPEE = 100n;

/** Whole rupees as the story tells them: 4200000 paise are `42,000`. What is not whole is shown with its paise, never rounded. */
export function rupees(minor: bigint): string {
  return formatMoney(minor, "INR").replace(/ INR$/, "").replace(/\.00$/, "");
}

/** What `import --dry-run` shows a person: how the file is read, its first lines as they would be recorded, and whose they are. */
import { currencyDigits, type ImportLook } from "@nightwriter/sales";
import { formatCount } from "./output/format.ts";
import { formatMinor, formatMoney } from "./output/money.ts";
import { renderTable } from "./output/table.ts";

const lineColumns = [
  { title: "line", align: "right" },
  { title: "restaurant" },
  { title: "business date" },
  { title: "local time" },
  { title: "amount", align: "right" },
  { title: "" },
] as const;

const restaurantColumns = [
  { title: "restaurant" },
  { title: "" },
  { title: "sales", align: "right" },
  { title: "sum", align: "right" },
  { title: "dates" },
] as const;

const delimiterNames: Readonly<Record<string, string>> = {
  ",": "a comma",
  ";": "a semicolon",
  "\t": "a tab",
  "|": "a vertical bar",
};

/** Several paragraphs; nothing of a table without rows. */
export function lookText({ delimiter, encoding, header, firstLines, restaurants }: ImportLook): string {
  const names = header.map((each) => JSON.stringify(each)).join(", ");
  const between = delimiterNames[delimiter] ?? JSON.stringify(delimiter);
  const texts = [`read as ${encoding}, ${between} between fields; columns ${names}`];
  if (firstLines.length > 0) {
    const rows = firstLines.map(({ line, restaurant, businessDate, localTime, amountMinor, currency }) => [
      String(line),
      restaurant,
      businessDate,
      localTime ?? "",
      formatMinor(amountMinor, currencyDigits(currency)),
      currency,
    ]);
    texts.push(renderTable(lineColumns, rows));
  }
  if (restaurants.length > 0) {
    const rows = restaurants.map(({ id, isNew, sales, sumMinor, currency, firstDate, lastDate }) => [
      id,
      isNew ? "new" : "",
      formatCount(sales),
      formatMoney(sumMinor, currency),
      firstDate === lastDate ? firstDate : `${firstDate} to ${lastDate}`,
    ]);
    texts.push(renderTable(restaurantColumns, rows));
  }
  return texts.join("\n\n");
}

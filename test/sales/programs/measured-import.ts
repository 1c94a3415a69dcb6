/** A process that imports one file and says how it went, as JSON: `measured-import.ts URL FILE`. */
import { openDatabase } from "@nightwriter/database";
import { importSales } from "@nightwriter/sales";

const [, , url = "", file = ""] = process.argv;
await using database = openDatabase({ url, applicationName: "measured import" });
const start = performance.now();
const result = await importSales(database, {
  file,
  restaurant: { column: "city" },
  date: { column: "date", format: "dd/MM/yyyy HH:mm" },
  amount: { quantityColumn: "qty", priceColumn: "price" },
  zone: "Europe/London",
  cutoff: "04:00",
  currency: "GBP",
});
const lines = result.outcome === "imported" ? result.lines : 0;
const peakMegabytes = process.resourceUsage().maxRSS / 1_024;
console.log(JSON.stringify({ lines, seconds: (performance.now() - start) / 1_000, peakMegabytes }));

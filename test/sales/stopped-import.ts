/** A process that stops for ever in the middle of an import, with its transaction open, and says so: `stopped-import.ts URL FILE`. */
import { writeSync } from "node:fs";
import { openDatabase } from "@nightwriter/database";
import { importSales } from "@nightwriter/sales";
import { optionsOf } from "./fixture.ts";

const [, , url = "", file = ""] = process.argv;
await using database = openDatabase({ url, applicationName: "stopped import" });
await importSales(
  database,
  optionsOf(file, {
    restaurant: { column: "city" },
    onProgress: ({ phase, lines }) => {
      if (phase !== "recording" || lines < 30_000) return;
      writeSync(1, "stopped in mid-copy\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    },
  }),
);

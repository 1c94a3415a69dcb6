import { describe, expect, it } from "vitest";
import { RowFilter } from "./row-filter.ts";

describe("RowFilter", () => {
  it("keeps every line if nothing is said", () => {
    expect(new RowFilter({}).columns).toEqual([]);
    expect(new RowFilter({}).keeps([])).toBe(true);
  });

  it("takes values of one column for alternatives, and columns for conditions that all hold", () => {
    const filter = new RowFilter({
      only: [
        { column: "Status", value: "Delivered" },
        { column: "status ", value: "Refunded" },
        { column: "City", value: "Paris" },
      ],
      except: [{ column: "Voided", value: "true" }],
    });
    expect(filter.columns).toEqual(["status ", "City", "Voided"]);
    expect(filter.keeps(["Delivered", " Paris ", "false"])).toBe(true);
    expect(filter.keeps(["Refunded", "Paris", ""])).toBe(true);
    expect(filter.keeps(["Delivered", "London", ""])).toBe(false);
    expect(filter.keeps(["delivered", "Paris", ""])).toBe(false);
    expect(filter.keeps(["Delivered", "Paris", "true"])).toBe(false);
    expect(filter.seen).toEqual({ status: ["Delivered", "Refunded"], city: ["Paris"], voided: ["true"] });
  });

  it("knows what is excepted, whatever else is wrong with the line", () => {
    const filter = new RowFilter({ only: [{ column: "a", value: "x" }], except: [{ column: "b", value: "Total" }] });
    expect([filter.excepts(["", " Total"]), filter.excepts(["y", ""])]).toEqual([true, false]);
  });

  it("does not tell blanks around a value nor ways to write an accent apart", () => {
    const filter = new RowFilter({ only: [{ column: "a", value: "Café" }] });
    expect(filter.keeps([" Cafe\u0301 "])).toBe(true);
  });

  it("names what no line had, and what there was instead", () => {
    const filter = new RowFilter({ except: [{ column: "status", value: "Canceled" }] });
    for (const status of ["Cancelled", "Delivered", "Delivered"]) filter.keeps([status]);
    expect(filter.unseen).toEqual([
      { option: "except", column: "status", value: "Canceled", instead: ["Delivered", "Cancelled"] },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { renderTable } from "./table.ts";

const columns = [{ title: "restaurant" }, { title: "total", align: "right" }] as const;

describe("renderTable", () => {
  it("aligns its columns, wide characters too, and ends lines without blanks", () => {
    expect(
      renderTable(columns, [
        ["寿司 Bar", "1500"],
        ["Kensington", "-0.05"],
      ]),
    ).toBe(["restaurant  total", "寿司 Bar     1500", "Kensington  -0.05"].join("\n"));
  });

  it("shows a cell with a line break or an escape in one line, without its effect", () => {
    expect(renderTable([{ title: "error" }], [["a\nb\u001B[31mc"]])).toBe("error\na b [31mc");
  });

  it("is its head alone when there are no rows", () => {
    expect(renderTable(columns, [])).toBe("restaurant  total");
  });
});

import { codeVersionOf } from "@nightwriter/job";
import { expect, it } from "vitest";
import { restaurantTotals } from "./restaurant-totals.ts";

// A database keeps number and hash together. A build that says the number and words the query otherwise is refused by every process at
// its start, and no night happens: whoever changes the text, or takes a query builder that does, raises queryVersion here too.
it("the shipped query has the number under which databases know its text", () => {
  expect(codeVersionOf(restaurantTotals)).toEqual({
    number: 1,
    queryHash: "48ccb4c278be4a20a8b6084a8af162657d75dcde51a5d1d21629fcfc8d5448ce",
  });
});

export { partitionOf } from "./partition-of.ts";
export { readTerms, type Term } from "./term-store.ts";

export { PartitionFault, type PartitionFaultCode } from "./partition-fault.ts";
export { partitionName } from "./partition-name.ts";
export { partitionOf } from "./partition-of.ts";
export { raiseTerm, sealTerm, type TermClaim } from "./raise-term.ts";
export { readTerms, type Term } from "./term-store.ts";

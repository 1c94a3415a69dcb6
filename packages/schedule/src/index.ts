export { type MissingNightsOptions, missingNights } from "./missing-nights.ts";
export { businessDateOf, dueAt, expectedNights, type Nightly } from "./night.ts";

export { databaseNow } from "./database-now.ts";
export { type MissingNightsOptions, missingNights } from "./missing-nights.ts";
export { businessDateOf, dueAt, endsAt, expectedNights, type Nightly } from "./night.ts";

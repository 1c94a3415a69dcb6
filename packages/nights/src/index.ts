export type { EarlyNight } from "./early-nights.ts";
export { type Leadership, leadershipOf } from "./leadership.ts";
export { lookAtNights, type NightsLook, type NightsOptions } from "./look-at-nights.ts";
export { type OverdueReason, overdueReason } from "./overdue.ts";
export type { ParkedEver, ParkedPair } from "./parked-ever.ts";

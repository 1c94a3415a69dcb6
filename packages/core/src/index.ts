export { type Clock, systemClock } from "./clock.ts";
export { Fault, type FaultDetails, type FaultOptions } from "./fault.ts";
export { assertNever, InvariantError, invariant } from "./invariant.ts";
export { toJson } from "./json.ts";
export { type Logger, silentLogger } from "./logger.ts";
export { type Throttled, type ThrottleOptions, throttled } from "./throttled.ts";

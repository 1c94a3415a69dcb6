export { type Assignment, assignPartitions, rankWorkers } from "./assignment.ts";
export { forgetSilentWorkers, type Heartbeat, markLeft, recordHeartbeat, type WorkerIdentity } from "./heartbeat.ts";
export { liveWorkers, staleAfterMs } from "./live-workers.ts";

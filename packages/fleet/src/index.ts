export { type Assignment, assignPartitions, rankWorkers } from "./assignment.ts";
export { forgetSilentWorkers, type Heartbeat, markLeft, recordHeartbeat, type WorkerIdentity } from "./heartbeat.ts";
export { liveWorkers, staleShare } from "./live-workers.ts";

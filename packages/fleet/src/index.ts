export { type Assignment, assignPartitions, rankWorkers } from "./assignment.ts";
export { type ClockWatch, createClockWatch } from "./clock-watch.ts";
export { forgetSilentWorkers, type Heartbeat, markLeft, recordHeartbeat, type WorkerIdentity } from "./heartbeat.ts";
export { liveWorkers, staleAfterMs } from "./live-workers.ts";
export {
  findSchedulers,
  forgetSilentSchedulers,
  markSchedulerLeft,
  recordSchedulerHeartbeat,
  type SchedulerHeartbeat,
  type SchedulerSight,
  schedulerStaleMs,
} from "./scheduler-heartbeat.ts";

export { type CodeVersion, codeVersionOf, describeCodeVersion } from "./code-version.ts";
export { ensureJob } from "./ensure-job.ts";
export type { JobDefinition, KeyRow, Relation, Source, SourceRow, StampedSourceRow } from "./job-definition.ts";
export { assertCurrent, assertQueryVersion, findDifference, getJob, getPartitionCount, type Job } from "./job-store.ts";
export { type DeployOptions, deployJob, plannedDeploy, registerJob } from "./register-job.ts";
export type { History, JobFaultCode, StoredVersion } from "./stored-version.ts";

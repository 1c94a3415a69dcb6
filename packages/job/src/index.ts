export type { JobDefinition, KeyRow, Relation, Source, SourceRow, StampedSourceRow } from "./job-definition.ts";
export { assertQueryVersion, getPartitionCount, type Job, type JobFaultCode, registerJob } from "./job-store.ts";

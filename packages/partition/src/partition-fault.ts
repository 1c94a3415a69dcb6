import { Fault } from "@nightwriter/core";

/** - `partition_unknown`: the job has no such partition, any more or yet: its count was changed. Retryable, with the job read again. */
export type PartitionFaultCode = "partition_unknown";

export class PartitionFault extends Fault<PartitionFaultCode> {
  override readonly name = "PartitionFault";
}

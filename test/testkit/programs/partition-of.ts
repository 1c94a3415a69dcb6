/** Says which of 16 partitions a key belongs to, in this build. */

import { partitionOf } from "@nightwriter/partition";

console.log(JSON.stringify({ msg: "partition", partition: partitionOf("Kensington", 16) }));

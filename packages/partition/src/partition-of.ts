import { createHash } from "node:crypto";

/**
 * The partition of a key: the first four bytes of its MD5, as an unsigned number, modulo the count. The same as the SQL
 * function nightwriter.partition_of, and stable across versions of PostgreSQL, which its own hash functions need not be.
 * MD5 spreads keys; nothing here depends on its being hard to break.
 */
export function partitionOf(key: string, partitionCount: number): number {
  return createHash("md5").update(key).digest().readUInt32BE(0) % partitionCount;
}

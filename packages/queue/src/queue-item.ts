/**
 * What travels through the queue: the ids of one run item, nothing else. Facts are read from Postgres when the item is
 * applied, so that nothing in the queue can be stale or forged into an amount.
 */
import { createHash } from "node:crypto";
import { invariant } from "@nightwriter/core";
import { z } from "zod";

/** The ids of one run item, as they travel. */
export interface QueueItem {
  /** A run's id in decimal digits: it is a bigint, which JSON has no number for. */
  readonly runId: string;
  /** 1 to 1,000 UTF-16 units of well-formed Unicode without NUL: what Postgres can store as text. */
  readonly key: string;
  /** `2026-11-01`, of the years 1900 to 2199. A text, because it is one in the queue and one in the statement; nothing on the way computes with it. */
  readonly businessDate: string;
  /** How often the item was put into the queue anew, from 0: a job id that the queue has seen is never added again. */
  readonly generation: number;
}

/** What Postgres can store: a value that only it refuses would be tried for ever. */
const largestBigint = 2n ** 63n - 1n;

const queueItem: z.ZodType<QueueItem> = z.strictObject({
  runId: z
    .string()
    .regex(/^(0|[1-9]\d{0,18})$/)
    .refine((runId) => BigInt(runId) <= largestBigint),
  key: z
    .string()
    .min(1)
    .max(1_000)
    .refine((key) => key.isWellFormed() && !key.includes("\0")),
  businessDate: z.iso.date().regex(/^(19|20|21)/),
  generation: z.int().min(0),
});

/** What {@link readQueueItem} answers: the item, or what is wrong with the data. */
export type ReadQueueItem = { readonly item: QueueItem } | { readonly fault: string };

/** Checks the data of a queue job, which anybody who can write to the store may have put there. */
export function readQueueItem(data: unknown): ReadQueueItem {
  const parsed = queueItem.safeParse(data);
  if (parsed.success) return { item: parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "data"}: ${message}`);
  return { fault: faults.join("; ") };
}

/**
 * The job id of an item: equal for equal items, different for different ones, so that adding an item twice is one job.
 * Holds no `:`, is no integer, and is at most 300 characters long: a key that would take more room is represented by
 * its SHA-256, behind a `~` that no encoded key begins with.
 *
 * Throws InvariantError for what {@link readQueueItem} would not accept back.
 *
 * @example queueJobId({ runId: "12", key: "77", businessDate: "2026-11-01", generation: 0 }) // r12.2026-11-01.77.g0
 */
export function queueJobId(item: QueueItem): string {
  const read = readQueueItem(item);
  invariant("item" in read, `queue item of key ${JSON.stringify(item.key)}: ${"fault" in read ? read.fault : ""}`);
  return `r${item.runId}.${item.businessDate}.${encodeKey(item.key)}.g${item.generation}`;
}

const longestEncodedKey = 240;

function encodeKey(key: string): string {
  const encoded = encodeURIComponent(key).replaceAll("~", "%7E");
  if (encoded.length <= longestEncodedKey) return encoded;
  return `~${createHash("sha256").update(key).digest("base64url")}`;
}

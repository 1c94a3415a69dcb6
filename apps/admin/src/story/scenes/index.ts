import type { Scene } from "../scene.ts";
import { clockJump } from "./clock-jump.ts";
import { failover } from "./failover.ts";
import { fenced } from "./fenced.ts";
import { lateWrite } from "./late-write.ts";
import { leaseAlone } from "./lease-alone.ts";
import { noLock } from "./no-lock.ts";
import { redlock } from "./redlock.ts";

/** All scenes, in the order in which they are told. */
export const scenes: readonly Scene[] = [leaseAlone, fenced, noLock, failover, lateWrite, clockJump, redlock];

/** How the installation is: whether its servers answer, whether anybody leads, whether its nights happen. */
import { Fault } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { getJob, type JobDefinition } from "@nightwriter/job";
import { leadershipOf, lookAtNights, type NightsLook } from "@nightwriter/nights";
import type { Queues } from "@nightwriter/queue";
import { missingNights } from "@nightwriter/schedule";

/** Each part is `ok`, or a word for what it is not: the code of a fault, `no leader`, `missing`, `overdue`. */
export interface Health {
  readonly database: string;
  readonly queue: string;
  readonly schedulers: string;
  readonly nights: string;
  /** Who was heard of in the last week. Absent where the database could not be asked. */
  readonly heartbeats?: NightsLook["schedulers"];
  /** Business dates. */
  readonly missing?: readonly string[];
  readonly overdue?: readonly string[];
}

/** A night that fell due so lately is no matter of health yet: the catch-up may be about to plan it. */
const allowance: Temporal.Duration = Temporal.Duration.from({ minutes: 15 });

export interface HealthOptions {
  readonly database: Database;
  readonly queues: Queues;
  readonly definitions: readonly JobDefinition[];
}

/** Asks all of it. Never rejects because of the outside world. */
export async function healthOf({ database, queues, definitions }: HealthOptions): Promise<Health> {
  const [queue, { state, value }] = await Promise.all([
    // Not whether it answers: one that is full or has become a replica does, and takes nothing.
    stateOf(() => queues.claimSlot.read()),
    stateOf(() => nightsOf(database, definitions)),
  ]);
  if (value === undefined) return { database: state, queue: queue.state, schedulers: state, nights: state };
  return { database: "ok", queue: queue.state, ...value };
}

/** Whether every part is. */
export function isHealthy({ database, queue, schedulers, nights }: Health): boolean {
  return [database, queue, schedulers, nights].every((part) => part === "ok");
}

type Nights = Required<Pick<Health, "schedulers" | "nights" | "heartbeats" | "missing" | "overdue">>;

async function nightsOf(database: Database, definitions: readonly JobDefinition[]): Promise<Nights> {
  const missing: string[] = [];
  const overdue: string[] = [];
  let heartbeats: NightsLook["schedulers"] = [];
  let schedulers = "ok";
  for (const definition of definitions) {
    const job = await getJob(database, definition);
    const look = await lookAtNights(database, job, { parkedLimit: 0 });
    const late = await missingNights(database, job, { now: look.now.subtract(allowance) });
    missing.push(...late.map(String));
    overdue.push(...look.overdue.map(({ status }) => status.run.businessDate.toString()));
    heartbeats = look.schedulers;
    schedulers = leadershipOf(look.schedulers, look.now) === "led" ? "ok" : "no leader";
  }
  const words = [missing.length > 0 ? "missing" : "", overdue.length > 0 ? "overdue" : ""];
  const nights = words.filter((word) => word !== "").join(", ");
  return { schedulers, nights: nights === "" ? "ok" : nights, heartbeats, missing, overdue };
}

type State<Value> = { readonly state: string; readonly value: Value | undefined };

async function stateOf<Value>(ask: () => Promise<Value>): Promise<State<Value>> {
  try {
    return { state: "ok", value: await ask() };
  } catch (error) {
    const fault = error instanceof Fault ? error : undefined;
    if (fault === undefined) throw error;
    return { state: fault.code, value: undefined };
  }
}

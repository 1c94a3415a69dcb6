import type { CommandDefinition, CommandGroup } from "../command.ts";
import { acknowledge } from "./acknowledge.ts";
import { dashboard } from "./dashboard.ts";
import { demo } from "./demo.ts";
import { dev } from "./dev.ts";
import { importCommand } from "./import.ts";
import { imports } from "./imports.ts";
import { installation } from "./installation.ts";
import { items } from "./items.ts";
import { jobs } from "./jobs.ts";
import { lease } from "./lease.ts";
import { migrate } from "./migrate.ts";
import { open } from "./open.ts";
import { partitions } from "./partitions.ts";
import { rerun } from "./rerun.ts";
import { restaurants } from "./restaurants.ts";
import { run } from "./run.ts";
import { scheduler } from "./scheduler.ts";
import { status } from "./status.ts";
import { story } from "./story.ts";
import { test } from "./test.ts";
import { total } from "./total.ts";
import { verify } from "./verify.ts";
import { worker } from "./worker.ts";

/** Every verb, in the order in which the help lists them. */
export const commands: readonly (CommandDefinition | CommandGroup)[] = [
  demo,
  dev,
  story,
  test,
  migrate,
  installation,
  jobs,
  importCommand,
  imports,
  restaurants,
  open,
  run,
  rerun,
  status,
  items,
  partitions,
  total,
  verify,
  acknowledge,
  lease,
  scheduler,
  worker,
  dashboard,
];

import { hostname, userInfo } from "node:os";
import type { Actor } from "@nightwriter/audit";

/** Who runs this command line, as the machine knows them. */
export function actor(): Actor {
  return { name: userInfo().username, host: hostname() };
}

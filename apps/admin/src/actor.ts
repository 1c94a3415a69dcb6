import { hostname, userInfo } from "node:os";
import type { Actor } from "@nightwriter/audit";

/** Who runs this command line, as the machine knows them. In a container whose user has no name, the user's number. */
export function actor(): Actor {
  return { name: userName(), host: hostname() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

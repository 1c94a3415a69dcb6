/** The dashboard asks nobody who they are, so only people on its own machine may reach it. */
import { isIPv4 } from "node:net";

/** Whether an address, or the host of a `Host` header, is this machine's own: `127.x.x.x`, `::1` or `localhost`. */
export function isLoopback(host: string): boolean {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return bare === "localhost" || bare === "::1" || (isIPv4(bare) && bare.startsWith("127."));
}

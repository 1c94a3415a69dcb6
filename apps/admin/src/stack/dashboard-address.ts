import { isIPv4 } from "node:net";
import { Fault } from "@nightwriter/core";
import getPort, { portNumbers } from "get-port";

/** Where the stack's dashboard is to listen. */
export interface DashboardAddress {
  readonly url: string;
  readonly port: number;
}

/** Below it, only root listens, and no next port is tried. */
const firstOrdinary = 1_024;
const triedAtMost = 100;

/**
 * The configured port or, where something listens there already, one of the next hundred; for 0 any free one. Throws a Fault that names
 * the setting when the dashboard could not listen there.
 */
export async function dashboardAddress(host: string, wanted: number): Promise<DashboardAddress> {
  const bare = host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
  if (!bare) {
    const fact = "asks nobody who they are; set DASHBOARD_HOST to 127.0.0.1, ::1 or localhost";
    throw new Fault("dashboard_host_not_loopback", `dashboard at ${host}: ${fact}`, { details: { host } });
  }
  const port = await freePort(host, wanted);
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, port };
}

async function freePort(host: string, wanted: number): Promise<number> {
  if (wanted !== 0 && wanted < firstOrdinary) return wanted;
  try {
    if (wanted === 0) return await getPort({ host });
    return await getPort({ host, port: portNumbers(wanted, Math.min(65_535, wanted + triedAtMost)) });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("dashboard_address_unusable", `dashboard at ${host}: ${why}; set DASHBOARD_HOST to 127.0.0.1`, {
      details: { host, port: wanted },
      cause: error,
    });
  }
}

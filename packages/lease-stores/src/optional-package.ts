import { createRequire } from "node:module";
import { LeaseFault } from "@nightwriter/lease";

const { resolve } = createRequire(import.meta.url);

/** What `load` imports, if the package is installed. Throws LeaseFault if it is not; what goes wrong in it is not hidden. */
export async function optionalPackage<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  if (!isInstalled(name)) {
    const message = `lease store: the package ${name} is not installed; install optional packages too, or choose another LEASE_URL`;
    throw new LeaseFault("lease_store_unfit", message, { details: { package: name } });
  }
  return load();
}

function isInstalled(name: string): boolean {
  try {
    return resolve(name) !== "";
  } catch {
    return false;
  }
}

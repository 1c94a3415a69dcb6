export { extendEnvironment } from "./extend-environment.ts";
export { listSettings, type SettingDescription } from "./list-settings.ts";
export { ConfigFault, type Environment, loadConfig } from "./load-config.ts";
export type { Config } from "./settings.ts";

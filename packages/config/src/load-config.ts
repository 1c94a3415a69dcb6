/**
 * Reads the environment once, at start, and either hands over a configuration that is right or says everything that is
 * wrong with it in one message: an operator mends five variables in one go, not in five restarts.
 */
import { hostname } from "node:os";
import { Fault } from "@nightwriter/core";
import type { Setting } from "./setting.ts";
import { type Config, settings } from "./settings.ts";

/** The configuration is wrong. `message` has one line per variable; `details.variables` names them, separated by commas. */
export class ConfigFault extends Fault<"config_invalid"> {
  override readonly name = "ConfigFault";
}

/** An environment: `process.env`, or a test's own. An empty text counts as absent, as compose files write it. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Complaint = { readonly variable: string; readonly line: string };

/** Returns the checked configuration. Throws one {@link ConfigFault} that names each wrong variable, its value and its remedy. */
export function loadConfig(env: Environment = process.env): Config {
  const complaints: Complaint[] = [];
  const read = <Field extends keyof Config>(field: Field, ...fallback: readonly Config[Field][]): Config[Field] =>
    readSetting(settings[field], env, { complaints, fallback });

  const databaseUrl = read("databaseUrl");
  const queueUrl = read("queueUrl", databaseUrl);
  const leaseMs = read("leaseMs");
  const config: Config = {
    databaseUrl,
    queueUrl,
    queuePrefix: read("queuePrefix"),
    leaseUrl: read("leaseUrl", isRedis(queueUrl) ? queueUrl : databaseUrl),
    leaseMs,
    leaseMarginMs: read("leaseMarginMs", leaseMs / 10),
    logLevel: read("logLevel"),
    logFormat: read("logFormat", process.stderr.isTTY ? "pretty" : "json"),
    workerName: read("workerName", `${hostname()}-${process.pid}`),
    workerConcurrency: read("workerConcurrency"),
    batchSize: read("batchSize"),
    databasePoolSize: read("databasePoolSize"),
    queuePoolSize: read("queuePoolSize"),
    statementTimeoutMs: read("statementTimeoutMs"),
    lockTimeoutMs: read("lockTimeoutMs"),
    queryTimeoutMs: read("queryTimeoutMs"),
    shutdownTimeoutMs: read("shutdownTimeoutMs"),
    reconcileIntervalMs: read("reconcileIntervalMs"),
    catchUpIntervalMs: read("catchUpIntervalMs"),
    catchUpDays: read("catchUpDays"),
    dashboardHost: read("dashboardHost"),
    dashboardPort: read("dashboardPort"),
  };
  complaints.push(...contradictions(config));
  if (complaints.length > 0) throw faultOf(complaints);
  return config;
}

type Reading<Value> = {
  readonly complaints: Complaint[];
  /** What stands for an absent variable that has no default text: one value, or none. */
  readonly fallback: readonly Value[];
};

/** Returns the value, or notes a complaint and returns undefined as if it were one: the caller throws before anybody reads it. */
function readSetting<Value>(
  setting: Setting<Value>,
  env: Environment,
  { complaints, fallback }: Reading<Value>,
): Value {
  const text = env[setting.variable] || setting.defaultText;
  if (text === undefined && fallback.length > 0) return fallback[0] as Value;
  const parsed = setting.schema.safeParse(text);
  if (!parsed.success) {
    const fact =
      text === undefined ? `${setting.variable}: not set` : `${setting.variable}=${show(setting, text)}: not accepted`;
    complaints.push({ variable: setting.variable, line: `${fact}; set it to ${setting.accepts}` });
  }
  return parsed.data as Value;
}

/** What each setting allows and two of them together do not. */
function contradictions({ queryTimeoutMs, statementTimeoutMs, leaseMarginMs, leaseMs }: Config): Complaint[] {
  const complaints: Complaint[] = [];
  if (queryTimeoutMs <= statementTimeoutMs) {
    const variable = settings.queryTimeoutMs.variable;
    const remedy = `set it above ${settings.statementTimeoutMs.variable}, which is ${statementTimeoutMs}`;
    const line = `${variable}=${queryTimeoutMs}: the process would give up before the server does; ${remedy}`;
    complaints.push({ variable, line });
  }
  if (leaseMarginMs >= leaseMs / 3) {
    const variable = settings.leaseMarginMs.variable;
    const remedy = `set it below a third of ${settings.leaseMs.variable}, which is ${leaseMs}`;
    complaints.push({
      variable,
      line: `${variable}=${leaseMarginMs}: a lease could end before it is renewed; ${remedy}`,
    });
  }
  return complaints;
}

/** Undefined where the setting was wrong, whatever its type says: see readSetting. */
function isRedis(queueUrl: string | undefined): boolean {
  return /^rediss?:/.test(queueUrl ?? "");
}

/** A value for a person. What can hold a password is shown without it, and not at all when it cannot be taken apart. */
function show(setting: Setting<unknown>, text: string): string {
  if (setting.secret !== true) return JSON.stringify(text);
  const url = URL.parse(text);
  if (url === null || url.host === "") return "*** (not shown: it may hold a password)";
  if (url.password !== "") url.password = "***";
  url.search = "";
  return JSON.stringify(url.href);
}

function faultOf(complaints: readonly Complaint[]): ConfigFault {
  const count = complaints.length === 1 ? "1 setting is wrong" : `${complaints.length} settings are wrong`;
  const lines = complaints.map(({ line }) => `  ${line}`);
  const variables = complaints.map(({ variable }) => variable).join(",");
  return new ConfigFault("config_invalid", [`configuration: ${count}`, ...lines].join("\n"), {
    details: { variables },
  });
}

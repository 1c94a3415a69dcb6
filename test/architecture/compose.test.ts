import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./slice.ts";

type Service = {
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  command?: string[];
  deploy?: { replicas: number };
  build?: { context: string; dockerfile: string };
};
type Compose = { services: Record<string, Service> };

const compose = parse(await readFile(join(ROOT, "docker-compose.yml"), "utf8"), { merge: true }) as Compose;

// The Compose Specification's JSON schema, as the npm package dclint carries it.
const dclint = dirname(createRequire(import.meta.url).resolve("dclint/package.json"));
const { $schema: _, ...schema } = JSON.parse(
  await readFile(join(dclint, "schemas/compose.schema.json"), "utf8"),
) as Record<string, unknown>;
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);

describe("docker-compose.yml", () => {
  it("is valid by the Compose Specification", () => {
    expect(validate(compose), JSON.stringify(validate.errors)).toBe(true);
  });

  it.for([
    { what: "a key that a service does not have", plant: { worker: { replicas: 2 } }, at: "/services/worker" },
    { what: "a port that is no port", plant: { worker: { ports: [{}, true] } }, at: "/services/worker/ports/1" },
    {
      what: "a condition that there is not",
      plant: { worker: { depends_on: { redis: { condition: "up" } } } },
      at: "/services/worker/depends_on/redis/condition",
    },
  ])("would be refused with $what", ({ plant, at }) => {
    expect(validate({ ...compose, services: { ...compose.services, ...plant } })).toBe(false);
    expect(validate.errors?.map((error) => error.instancePath)).toContain(at);
  });

  it("runs a migration once, two schedulers, and workers by any number", () => {
    expect(compose.services["migrate"]?.command).toEqual(["migrate", "--roles"]);
    expect(compose.services["scheduler"]).toMatchObject({ command: ["scheduler"], deploy: { replicas: 2 } });
    expect(compose.services["worker"]).toMatchObject({ command: ["worker"] });
    expect(compose.services["worker"]).not.toHaveProperty("container_name");
  });

  it("runs each process under a login of its own, and only the migration as the owner of everything", () => {
    const logins = Object.entries(compose.services).flatMap(([name, { environment = {} }]) => {
      const url = environment["DATABASE_URL"];
      return url === undefined ? [] : [[name, /^postgres:\/\/(\w+):\$\{(\w+):\?/.exec(url)?.slice(1)]];
    });
    expect(Object.fromEntries(logins)).toEqual({
      migrate: ["nightwriter", "POSTGRES_PASSWORD"],
      scheduler: ["scheduler", "SCHEDULER_PASSWORD"],
      worker: ["worker", "WORKER_PASSWORD"],
      operator: ["operator", "OPERATOR_PASSWORD"],
    });
    for (const name of ["scheduler", "worker", "operator"]) {
      expect(compose.services[name]?.depends_on).toHaveProperty("logins", {
        condition: "service_completed_successfully",
      });
      expect(compose.services["logins"]?.environment).toHaveProperty(`${name.toUpperCase()}_PASSWORD`);
    }
  });

  it("keeps Redis from evicting and from forgetting", () => {
    const command = compose.services["redis"]?.command?.join(" ");
    expect(command).toContain("--appendonly yes");
    expect(command).toContain("--maxmemory-policy noeviction");
  });
});

import { defineConfig, type OxlintConfig } from "oxlint";

type Restriction = { name: string; message: string };

/** The doors to the outside, each with the one room that has its key. */
const environment = door(["process", "node:process"], "process is a global, and only config reads its env");
const postgres = door(["pg", "pg-copy-streams"], "only database speaks to Postgres");
const bullmq = door(["bullmq"], "only queue knows BullMQ");
const redis = [...bullmq, ...door(["ioredis"], "only queue and lease-redis speak to Redis")];
// turbo's boundaries are transitive: they must let an edge reach the store through the domain. A direct import is caught here.
const store = door(["@nightwriter/database"], "an edge imports domain and kernel, not the store");

function door(names: string[], message: string): Restriction[] {
  return names.map((name) => ({ name, message }));
}

function forbid(...doors: Restriction[][]): ["error", { paths: Restriction[] }] {
  return ["error", { paths: doors.flat() }];
}

const config: OxlintConfig = defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: "error" },
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "max-lines": ["error", { max: 400 }],
    "max-lines-per-function": ["error", { max: 70 }],
    "max-params": ["error", { max: 3 }],

    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "no-restricted-imports": forbid(environment, postgres, redis),
    "no-restricted-properties": [
      "error",
      { object: "process", property: "env", message: "only config reads the environment" },
    ],

    "typescript/no-misused-promises": "error",
    "typescript/only-throw-error": "error",
    "typescript/prefer-promise-reject-errors": "error",
    "typescript/promise-function-async": ["error", { checkArrowFunctions: false }],
    "typescript/return-await": ["error", "error-handling-correctness-only"],

    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/switch-exhaustiveness-check": "error",
    eqeqeq: "error",

    // vitest itself fails a test without an assertion; expect may stand in a function that tests share.
    "vitest/expect-expect": "off",
    "vitest/no-standalone-expect": "off",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],

    // The compiler's noImplicitReturns says it better: it knows when a switch is exhaustive.
    "typescript/consistent-return": "off",

    // Not ours: a short arrow function stays where it is used, the singular may shadow its noun, pg has only its default
    // export in Node's eyes, and whether an assertion parses unknown input is for a reader to see.
    "import/no-named-as-default-member": "off",
    "no-shadow": "off",
    "no-underscore-dangle": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/consistent-function-scoping": "off",
  },
  // A rule in an override replaces the general one, so every list below is the whole list of that room.
  overrides: [
    { files: ["packages/database/**"], rules: { "no-restricted-imports": forbid(environment, redis) } },
    { files: ["packages/queue/**"], rules: { "no-restricted-imports": forbid(environment, store) } },
    {
      files: ["packages/lease-redis/**"],
      rules: { "no-restricted-imports": forbid(environment, postgres, bullmq, store) },
    },
    {
      files: ["packages/lease-redis/**"],
      rules: { "no-restricted-imports": forbid(environment, postgres, bullmq, store) },
    },
    {
      files: ["packages/{lease-etcd,lease-zookeeper,observability,services}/**"],
      rules: { "no-restricted-imports": forbid(environment, postgres, redis, store) },
    },
    {
      files: ["packages/config/**"],
      rules: { "no-restricted-imports": forbid(postgres, redis, store), "no-restricted-properties": "off" },
    },
    {
      // Tests stand outside the house: they plant damage behind its back, on connections of their own.
      files: ["packages/testkit/**", "test/**"],
      rules: { "no-restricted-imports": "off", "no-restricted-properties": "off" },
    },
    { files: ["**/*.test.ts"], rules: { "max-lines-per-function": "off" } },
    { files: ["*.config.ts"], rules: { "import/no-default-export": "off" } },
  ],
});

export default config;

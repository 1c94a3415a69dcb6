import { defineConfig, type ViteUserConfig } from "vitest/config";
import { ClosingLineReporter } from "./test/closing-line-reporter.ts";

/** What takes long: mostly real processes, killed and frozen by real signals. */
const slow = ["test/**/*.slow.test.ts"];
/** They hold the product to seconds that it promises for two cores: no other file runs beside them. */
const alone = ["test/fleet/{faults,hand-over}*.slow.test.ts"];
/** The same on longer scales, and what must be seen many times: `./nightwriter test --soak`, and in no other run. */
const soak = ["test/**/*.soak.test.ts"];
const needsNoService = ["{apps,packages}/*/src/**/*.test.ts", "test/{architecture,launcher}/**/*.test.ts"];

const withServers = {
  globalSetup: "packages/testkit/src/global-setup.ts",
  setupFiles: "packages/testkit/src/leaks.ts",
};

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ["default", new ClosingLineReporter()],
    maxWorkers: 2,
    retry: 0,
    allowOnly: false,
    // A condition that is polled becomes true, however slow the machine; by default it has one second for it.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "unit", include: needsNoService } },
      {
        extends: true,
        test: {
          ...withServers,
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: [...needsNoService, ...slow, ...soak, "**/node_modules/**"],
        },
      },
      {
        extends: true,
        test: { ...withServers, name: "slow", include: slow, exclude: [...alone, "**/node_modules/**"] },
      },
      {
        extends: true,
        test: { ...withServers, name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { ...withServers, name: "soak", include: soak, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
});

export default config;

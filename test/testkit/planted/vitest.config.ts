import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Each file here leaves something behind, so that leaks.test.ts can see the leak check fail. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.planted.ts"],
    setupFiles: ["../../../packages/testkit/src/leaks.ts"],
    maxWorkers: 2,
  },
});

export default config;

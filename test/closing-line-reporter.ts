import type { Reporter, SerializedError, TestModule, Vitest } from "vitest/node";

/**
 * Ends a run with the line `N passed, N failed, N skipped`, which a continuous integration reads, and makes a skipped
 * test fail the run: what was not run is not known to hold. A run that was narrowed by name skips on purpose.
 *
 * A file that cannot be loaded, and an error outside of every test, count as one failure each.
 */
export class ClosingLineReporter implements Reporter {
  #narrowed = false;

  onInit(vitest: Vitest): void {
    this.#narrowed = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
    if (count.skipped > 0 && !this.#narrowed) process.exitCode = 1;
  }
}

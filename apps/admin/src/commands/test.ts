import { Option } from "@commander-js/extra-typings";
import type { CommandDefinition } from "../command.ts";
import { exitCode } from "../exit-code.ts";
import { group } from "./groups.ts";

export const test: CommandDefinition = {
  name: "test",
  summary: "everything that tests this project (--quick: a few minutes of it)",
  description: `Runs every check and every test; Redis and PostgreSQL 15, and for the slow tests etcd and ZooKeeper, are installed
first where they are missing, the system is Debian-like and this is root. The last line is "N passed, N failed, N skipped"; a skipped test counts as a failure.`,
  group: group.tryIt,
  examples: ["test", "test --quick", "test --soak"],
  define(command, perform) {
    command
      .addOption(new Option("--quick", "leave out the slow tests").default(false).conflicts("soak"))
      .addOption(new Option("--soak", "instead, the long ones: what must be seen many times, for hours").default(false))
      .action(({ quick, soak }) =>
        perform(async ({ json }) => {
          const { runTests } = await import("../verbs/test.ts");
          const code = await runTests({ scale: soak ? "soak" : quick ? "quick" : "whole", json });
          return { exitCode: code === 0 ? exitCode.inOrder : exitCode.fault, text: "" };
        }),
      );
  },
};

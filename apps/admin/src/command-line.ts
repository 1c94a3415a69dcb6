/**
 * From words to a verb and from its answer to an exit code. Whatever goes wrong becomes one line on stderr here, and
 * stdout gets its one document here, so that no verb can forget either.
 */
import { CommanderError } from "@commander-js/extra-typings";
import { toJson } from "@nightwriter/core";
import type { Answer } from "./answer.ts";
import type { Perform } from "./command.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { describeFailure } from "./failure.ts";
import { makeProgram, verbAmong } from "./program.ts";
import { openTerminal, type Streams } from "./terminal.ts";

/** Runs one command line and returns its exit code. Never rejects. */
export async function runCommandLine(args: readonly string[], streams: Streams): Promise<ExitCode> {
  // Looked at before commander parses: a wrong command line is answered in JSON too.
  const options = args.slice(0, args.includes("--") ? args.indexOf("--") : args.length);
  const terminal = openTerminal(streams, { json: options.includes("--json"), verbose: options.includes("--verbose") });
  let given: Answer | undefined;
  try {
    const perform: Perform = async (work) => {
      given = await work(terminal);
    };
    const program = await makeProgram({ args, streams, perform });
    await program.parseAsync(args, { from: "user" });
    if (given !== undefined) printAnswer(given);
    return given?.exitCode ?? exitCode.inOrder;
  } catch (error) {
    return fail(error);
  }

  function printAnswer({ document, text }: Omit<Answer, "exitCode">): void {
    const printed = terminal.json ? (document === undefined ? "" : toJson(document)) : text;
    if (printed !== "") streams.stdout.write(`${printed}\n`);
  }

  async function fail(error: unknown): Promise<ExitCode> {
    // Commander throws after it has printed help: because it was asked for, or because there was no verb.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCode.inOrder;
    if (error instanceof CommanderError && error.code === "commander.help") return exitCode.usage;
    const failure = await describeFailure(error, verbAmong(options));
    terminal.note(`nightwriter: ${failure.line}`);
    if (failure.stack !== undefined && (terminal.verbose || (await isDebugging()))) terminal.note(failure.stack);
    if (terminal.json) printAnswer({ document: failure.document, text: "" });
    return failure.exitCode;
  }
}

/** Whether LOG_LEVEL asks for more than usual; settings that are wrong do not. */
async function isDebugging(): Promise<boolean> {
  const { loadConfig } = await import("@nightwriter/config");
  try {
    return ["debug", "trace"].includes(loadConfig().logLevel);
  } catch {
    return false;
  }
}

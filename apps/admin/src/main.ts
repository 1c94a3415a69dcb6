/** The command line's entry: `./nightwriter VERB` runs this file. */
import { runCommandLine } from "./command-line.ts";

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// Not process.exit: what a verb opened it has closed, and what is still being written gets out.
process.exitCode = await runCommandLine(process.argv.slice(2), process);

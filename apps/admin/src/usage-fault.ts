import { Fault, type FaultDetails } from "@nightwriter/core";

/** What was typed cannot be done: an unknown restaurant, a date in the future. Ends the command with exit code 2. */
export class UsageFault extends Fault<"usage"> {
  override readonly name = "UsageFault";

  constructor(message: string, details: FaultDetails = {}) {
    super("usage", message, { details });
  }
}

/**
 * Faults of the outside world: a database that is away, a file that is wrong, a setting that cannot be.
 *
 * Each package that can meet one subclasses Fault with its own closed union of codes, so that a caller matches
 * `fault.code` and never a text. The message is written for a person: `subject with id: fact; consequence or remedy`.
 */

/** What may be attached to a fault: the values that its message names, for machines. */
export type FaultDetails = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

/** What a fault says beside its code and message. */
export interface FaultOptions {
  readonly details?: FaultDetails;
  /** Whether the same call can succeed later with nothing changed by a person. Default: false. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** A fault of the outside world. `code` is closed per subclass; `retryable` says whether waiting can help. */
export class Fault<Code extends string = string> extends Error {
  override readonly name: string = "Fault";
  readonly code: Code;
  readonly details: FaultDetails;
  readonly retryable: boolean;

  constructor(code: Code, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.retryable = options.retryable ?? false;
  }
}

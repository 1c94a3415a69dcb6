/**
 * Bugs. A broken invariant is nobody's to handle: only the top of a process catches it, logs it and exits.
 */

/** Thrown by {@link invariant}: the program is wrong, not the world. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** After it returns, `condition` holds; otherwise it throws {@link InvariantError}, which nobody but the top may catch. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Makes a switch over a closed union exhaustive: the compiler rejects a call that can be reached. */
export function assertNever(value: never): never {
  throw new InvariantError(`unreachable value ${String(value)}`);
}

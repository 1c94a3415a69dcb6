/** Ctrl-C as something that a verb can wait for, instead of an end without a goodbye. */

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

type EndSignal = keyof typeof exitCodes;

/** Somebody wants this process to end. Carries the exit code that shells have for it. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exitCode: (typeof exitCodes)[EndSignal];

  constructor(signal: EndSignal) {
    super(`interrupted (${signal})`);
    this.exitCode = exitCodes[signal];
  }
}

export interface Interrupt extends Disposable {
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP, its reason an {@link Interrupted}. The second one ends the process at once. */
  readonly signal: AbortSignal;
}

/** From now on, until it is disposed of, signals abort instead of ending the process. */
export function watchInterrupt(): Interrupt {
  const controller = new AbortController();
  const onSignal = (signal: EndSignal): void => {
    if (controller.signal.aborted) process.exit(exitCodes[signal]);
    controller.abort(new Interrupted(signal));
  };
  const names = Object.keys(exitCodes) as EndSignal[];
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}

/** Resolves when the signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (!signal.aborted) await promise;
}

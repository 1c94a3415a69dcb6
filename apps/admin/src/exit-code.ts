/** How a verb ends, as the shell sees it. */
export const exitCode = {
  /** Done, and what was asked about is in order. */
  inOrder: 0,
  /** A fault: the database is away, a file cannot be read. */
  fault: 1,
  /** Wrong usage: an unknown verb, a date that is none. */
  usage: 2,
  /** Done, and what was asked about is not in order. */
  notInOrder: 3,
  /** SIGHUP, SIGINT (Ctrl-C) and SIGTERM while waiting: as shells have it, 128 plus the signal's number. */
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/**
 * What a verb may write to while it works. The answer goes to stdout at the end, printed by the command line itself;
 * everything else (notes, progress, logs) goes to stderr.
 */
export interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Streams {
  readonly stdout: Stream;
  readonly stderr: NodeJS.WritableStream & Stream;
}

export interface Terminal extends Streams {
  /** Whether the answer will be printed as JSON. */
  readonly json: boolean;
  /** Whether a person wants to know all: the stack of a fault, debug logs. */
  readonly verbose: boolean;
  /** Tells a person something meanwhile, on stderr, above a progress bar if there is one. */
  readonly note: (line: string) => void;
  /** Until it is called again: notes go through here. A progress bar needs it, to be drawn anew below them. */
  readonly sendNotesTo: (write: ((line: string) => void) | undefined) => void;
}

/** A terminal over two streams. */
export function openTerminal(streams: Streams, options: { json: boolean; verbose: boolean }): Terminal {
  const plainly = (line: string): void => void streams.stderr.write(`${line}\n`);
  let write = plainly;
  return {
    ...streams,
    ...options,
    note: (line) => write(line),
    sendNotesTo: (other) => {
      write = other ?? plainly;
    },
  };
}

/** Whether something can be drawn and drawn anew there: some pseudo-terminals are none columns wide. */
export function canRedraw({ isTTY, columns = 0 }: Stream): boolean {
  return isTTY === true && columns > 0;
}

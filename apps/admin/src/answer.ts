import { type ExitCode, exitCode } from "./exit-code.ts";

/** What a verb has to say at its end. It is printed once and in one place, so stdout holds exactly one document. */
export interface Answer {
  readonly exitCode: ExitCode;
  /** For machines: printed as JSON, bigints as decimal strings. Absent: the verb has printed it itself. */
  readonly document?: unknown;
  /** For people: may have many lines, or none at all. */
  readonly text: string;
}

/** An answer whose exit code says whether what was asked about is in order. */
export function answer(content: { inOrder: boolean; document: unknown; text: string }): Answer {
  const { inOrder, document, text } = content;
  return { exitCode: inOrder ? exitCode.inOrder : exitCode.notInOrder, document, text };
}

/** Gathers the values of an option that may be given several times, each once, in the order in which they came. */
export function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...new Set([...(previous ?? []), value])];
}

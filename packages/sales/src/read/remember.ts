const maxRemembered = 50_000;

/** A reader of texts that remembers what it read, up to a limit: texts that hardly repeat must not fill the memory. */
export function remember<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = read(text);
    if (known.size >= maxRemembered) known.clear();
    known.set(detached(text), value);
    return value;
  };
}

/** The same text in memory of its own: a slice of a line would keep the whole piece of the file alive that it came in. */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}

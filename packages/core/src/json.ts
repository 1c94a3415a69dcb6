/**
 * JSON for money and dates: a bigint becomes a decimal string (a JSON number would lose digits above 2^53), dates and
 * instants become their ISO 8601 text, a Map becomes an object.
 */
export function toJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, replace, indent);
}

function replace(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}

/** What parked an item, as a person reads it: `22003 numeric field overflow`. Empty: nobody recorded it. */
export function errorText({
  sqlstate,
  reason,
}: {
  sqlstate?: string | undefined;
  reason?: string | undefined;
}): string {
  return [sqlstate, reason].filter((each) => each !== undefined).join(" ");
}

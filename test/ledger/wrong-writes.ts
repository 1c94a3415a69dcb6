/** What makes the write wrong, by what it then does not ask any more: see `writeText`. */

type Replacement = readonly [RegExp, string];

/** Each leaves out one thing that tells a write that something of it was taken back. */
export const withoutWithdrawal: Readonly<Record<string, readonly Replacement[]>> = {
  revision: [[/ and "seen"\."revision" = "live"\."revision"/, ""]],
  status: [[/"it"\."status" = (\$\d+) limit/, "$1::text is not null limit"]],
  cancellation: [[/ and "cancelled_at" is null/, ""]],
  pause: [
    [/("it"\."key" = "item"\."key") and "it"\."paused_at" is null/, "$1"],
    [/("it"\."key" = "base"\."key") and "it"\."paused_at" is null/, "$1"],
  ],
};

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

const withoutTerm: Replacement = [
  / and "fencing_token" = (\$\d+::bigint) and "nonce" = (\$\d+::uuid)/,
  ' and ("fencing_token" = $1 or true) and ("nonce" = $2 or true)',
];

/** Each lets a writer go on whose term has ended. Without the nonce alone it is no wrong write: every term has a token of its own. */
export const withoutFence: Readonly<Record<string, readonly Replacement[]>> = {
  "token and nonce": [withoutTerm],
  "token and nonce, and the row's token": [withoutTerm, [/ and "it"\."fencing_token" <= "term"\."fencing_token"/, ""]],
};

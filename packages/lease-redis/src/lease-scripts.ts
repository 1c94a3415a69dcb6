/**
 * What a Redis does with leases: four constant scripts, and two for the claim of the installation that they are of. A lease is a string key that expires; its value is the claim's
 * holder and nonce. A key is extended or deleted only while it has exactly that value, in the same script that looked.
 *
 * They are sent whole (EVAL), not by digest: a server that was just promoted or restarted does not know the digest, and the
 * second try would cost the round trip that a renewal does not have. Redis keeps each compiled, since its text never changes.
 */

/** KEYS: one lease. ARGV: length in ms, value. 1: it is the claim's, for the whole length; 0: somebody else's. */
export const TAKE = `
if redis.call('set', KEYS[1], ARGV[2], 'nx', 'px', ARGV[1]) then return 1 end
if redis.call('get', KEYS[1]) ~= ARGV[2] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[1])
`;

/** KEYS: leases. ARGV: length in ms, then a value for each. For each 1: extended; 0: not the claim's. */
export const EXTEND = `
local answers = {}
for i, key in ipairs(KEYS) do
  local mine = redis.call('get', key) == ARGV[i + 1]
  answers[i] = mine and redis.call('pexpire', key, ARGV[1]) or 0
end
return answers
`;

/** KEYS: leases. ARGV: a value for each. For each 1: deleted; 0: was not the claim's. */
export const DROP = `
local answers = {}
for i, key in ipairs(KEYS) do
  local mine = redis.call('get', key) == ARGV[i]
  answers[i] = mine and redis.call('del', key) or 0
end
return answers
`;

/** KEYS: leases. For each its value, or nothing, and how many ms it has left. */
export const LOOK = `
local answers = {}
for i, key in ipairs(KEYS) do
  answers[i] = { redis.call('get', key), redis.call('pttl', key) }
end
return answers
`;

/** KEYS: the claim of an installation. What stands there. */
export const CLAIM = `return redis.call('get', KEYS[1])`;

/** KEYS: the claim. ARGV: whether something must stand there, what, and what is to stand there. What stands there afterwards. */
export const RECLAIM = `
local found = redis.call('get', KEYS[1])
if (ARGV[1] == '0' and not found) or (ARGV[1] == '1' and found == ARGV[2]) then
  redis.call('set', KEYS[1], ARGV[3])
  return ARGV[3]
end
return found
`;

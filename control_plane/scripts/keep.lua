-- Push members ahead that somebody keeps: seats, as long as they are served.
-- KEYS[1]  cp:companions    zset    member -> when its seat ends (ms); or another sorted set of what is
--          due   (the derived names of the prelude are not used)
-- ARGV[1]  {members: [member], ahead}   at most 500; ahead: so many ms from now
-- Reply    {members that are there, when each is due now (ms)}
-- A member that is not there is not put there: somebody dropped it.

local due, kept = integer(NOW + REQ.ahead), {}
for _, member in ipairs(REQ.members) do
  if redis.call('ZSCORE', META, member) then
    redis.call('ZADD', META, due, member)
    kept[#kept + 1] = member
  end
end
return { kept, due }

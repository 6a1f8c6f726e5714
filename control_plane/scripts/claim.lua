-- Take what is due (runs and sessions to be looked at, seats of companions), pushed 15 s ahead so that
-- others leave it be and nothing is lost by whoever dies over it.
-- KEYS[1]  cp:wf:index, or another sorted set of what is due (ms)   (the derived names of the prelude
--          are not used)
-- KEYS[2]  cp:accepted:{cp:wf:index}, with the index alone: the moment (ms) of the last write, kept to a
--          second, so that others can tell since when there was none
-- ARGV[1]  {limit, of?: only those of these members that are due}
-- Reply    {members, when the next one is due (ms) or "", now}

local PUSH, ACCEPTED_EVERY = 15000, 1000
local members = {}
if REQ.of then
  for _, member in ipairs(REQ.of) do
    local due = tonumber(redis.call('ZSCORE', META, member) or 'inf')
    if due <= NOW and #members < REQ.limit then members[#members + 1] = member end
  end
else
  members = redis.call('ZRANGE', META, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, REQ.limit)
end
for _, member in ipairs(members) do redis.call('ZADD', META, NOW + PUSH, member) end
if KEYS[2] and NOW - tonumber(redis.call('GET', KEYS[2]) or 0) >= ACCEPTED_EVERY then
  redis.call('SET', KEYS[2], integer(NOW))
end
local head = redis.call('ZRANGE', META, 0, 0, 'WITHSCORES')
return { members, head[2] or '', integer(NOW) }

-- Delete a record, its name and its place in the index. Its history stays for a while.
-- KEYS[6]  cp:sessions:gone:{call}          string   that this call did it, for when it is said again
-- KEYS[7]  cp:sessions:gone:{incarnation}   string   when the record was made, for the call that made it
-- KEYS[8]  cp:sessions:kept:{id}            hash     member of the record -> JSON, for good
-- ARGV[1]  {id, incarnation, call, keep_ms, keep: [member], settled?: [approval]}
--          keep_ms: how long the history stays; keep: what whoever gets the id next begins with
-- ARGV[2]  event
-- Reply    {"ok"} | {"unknown"}

local TOLD_MS = 3600000
if redis.call('EXISTS', KEYS[6]) == 1 then return { 'ok' } end
local ctl = load()
if not ctl or ctl.incarnation ~= REQ.incarnation then return { 'unknown' } end
local name = cjson.decode(redis.call('JSON.GET', DOC, '.name'))
record(ctl.digest, ARGV[2])
redis.call('SET', KEYS[6], '1', 'PX', TOLD_MS)
redis.call('SET', KEYS[7], redis.call('JSON.GET', DOC, '.created_at'), 'PX', TOLD_MS)
for _, member in ipairs(REQ.keep) do
  local found = redis.call('JSON.GET', DOC, '$.record.' .. member)
  if found ~= '[]' then redis.call('HSET', KEYS[8], member, string.sub(found, 2, -2)) end
end
redis.call('DEL', DOC)
redis.call('HDEL', NAMES, name)
redis.call('ZREM', INDEX, REQ.id)
redis.call('PEXPIRE', HISTORY, REQ.keep_ms)
if APPROVALS then
  for _, approval in ipairs(REQ.settled or {}) do redis.call('ZREM', APPROVALS, approval) end
end
return { 'ok' }

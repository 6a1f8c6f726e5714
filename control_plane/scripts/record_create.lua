-- Make a record.
-- KEYS[6]  cp:sessions:gone:{call}   string   there when what this very call made was deleted since
-- KEYS[7]  cp:sessions:kept:{id}     hash     member of the record -> JSON: kept of one deleted before
-- ARGV[1]  {id, name, call}     call: an id; the same again gets the first answer
-- ARGV[2]  the document, without what the script adds     ARGV[3]  event
-- Reply    {"ok", revision, created_at, [kept member, JSON, …]} | {"exists"} | {"name_taken", id}
--          | {"full", limit} | {"bad_document", message}

local GONE = KEYS[6]
local kept = redis.call('HGETALL', KEYS[7])
local known = redis.call('GET', GONE)
if known then return { 'ok', 1, tonumber(known), kept } end
local before = load()
if before then
  if before.incarnation == REQ.call then
    return { 'ok', 1, tonumber(redis.call('JSON.GET', DOC, '.created_at')), kept }
  end
  return { 'exists' }
end
local other = redis.call('HGET', NAMES, REQ.name)
if other then return { 'name_taken', other } end
if full(1) then return { 'full', REQ.most } end

local bad = redis.pcall('JSON.SET', DOC, '$', ARGV[2]).err
if bad then return refuse(bad) end
-- Pages of a listing begin after the number of the last record seen: so no two have the same.
local last = redis.call('ZRANGE', INDEX, -1, -1, 'WITHSCORES')
redis.call('ZADD', INDEX, math.max(NOW, last[2] and tonumber(last[2]) + 1 or 0), REQ.id)
redis.call('HSET', NAMES, REQ.name, REQ.id)
-- The history of a record of this id that was deleted goes on.
redis.call('PERSIST', HISTORY)
local newest = redis.call('XREVRANGE', HISTORY, '+', '-', 'COUNT', 1)
local digest = record(newest[1] and newest[1][2][6] or '', ARGV[3])
-- An id that is used again is no way to begin anew with what was used up.
for i = 1, #kept, 2 do redis.call('JSON.SET', DOC, '$.record.' .. kept[i], kept[i + 1]) end
local ctl = { revision = 1, incarnation = REQ.call, digest = digest, said = { [REQ.call] = 1 } }
redis.call('JSON.MSET', DOC, '$.ctl', cjson.encode(ctl), DOC, '$.revision', 1,
  DOC, '$.created_at', integer(NOW), DOC, '$.updated_at', integer(NOW))
return { 'ok', 1, NOW, kept }

-- Change members of a record, compare-and-set, with the events that say so.
-- ARGV[1]  {id, incarnation, revision?, call, events: count, name?, asked?: {approval: asked at (ms)},
--          settled?: [approval], closing?}
--          without revision: whatever it is by now; call: an id, the same again gets the first answer;
--          closing: the events find room in a full history, for they are of its end
-- ARGV[…]  as many events, then pairs (path in the document, JSON text)
-- Reply    {"ok", revision} | {"conflict", revision} | {"name_taken", id} | {"unknown"}
--          | {"full", limit} | {"bad_document", message}

local ctl = load()
if not ctl or ctl.incarnation ~= REQ.incarnation then return { 'unknown' } end
if ctl.said[REQ.call] then return { 'ok', ctl.said[REQ.call] } end
if REQ.revision and REQ.revision ~= ctl.revision then return { 'conflict', ctl.revision } end
if not REQ.closing and full(REQ.events) then return { 'full', REQ.most } end
local name
if REQ.name then
  name = cjson.decode(redis.call('JSON.GET', DOC, '.name'))
  local other = redis.call('HGET', NAMES, REQ.name)
  if other and other ~= REQ.id then return { 'name_taken', other } end
end

local writes = {}
for i = 2 + REQ.events, #ARGV, 2 do
  local n = #writes
  writes[n + 1], writes[n + 2], writes[n + 3] = DOC, ARGV[i], ARGV[i + 1]
end
if #writes > 0 then
  -- All of them or, when the server refuses one, none.
  local bad = redis.pcall('JSON.MSET', unpack(writes)).err
  if bad then return refuse(bad) end
end
if name then
  redis.call('HDEL', NAMES, name)
  redis.call('HSET', NAMES, REQ.name, REQ.id)
end
for i = 2, 1 + REQ.events do ctl.digest = record(ctl.digest, ARGV[i]) end
ctl.revision = ctl.revision + 1
remember(ctl)
redis.call('JSON.MSET', DOC, '$.ctl', cjson.encode(ctl), DOC, '$.revision', ctl.revision,
  DOC, '$.updated_at', integer(NOW))
if APPROVALS then
  for approval, at in pairs(REQ.asked or {}) do
    redis.call('ZADD', APPROVALS, at, approval)
  end
  for _, approval in ipairs(REQ.settled or {}) do redis.call('ZREM', APPROVALS, approval) end
end
return { 'ok', ctl.revision }

-- Shared by the scripts of records: agents, sessions, conductors. A record is one JSON document with a
-- revision; whoever changes it says which revision it saw. KEYS as those of sessions:
--
-- KEYS[1]  cp:sess:{id}:doc          JSON    {session_id, name, tags, created_at, updated_at, revision,
--          (cp:agent:{id}, …)                record: {member: value}, ctl}
-- KEYS[2]  cp:sess:{id}:history      stream  at, event, digest: each digest covers the one before
-- KEYS[3]  cp:sessions:names         hash    name -> id: a name belongs to one record
-- KEYS[4]  cp:sessions:index         zset    id -> when it was made (ms; no two alike)
-- KEYS[5]  cp:approvals              zset    agent\t{id}\t{approval} -> asked at (ms)
-- ctl      {revision, incarnation: id of the call that made the record, digest: end of the history,
--           said: {id of a call: revision that it led to}}: the last 32 calls are remembered, so that
--           one said again gets its first answer
-- ARGV[1]  request: a JSON object; newest: how many entries of the history stay, or most: how many it
--          may have
-- ARGV[2…] JSON texts made by the client, written verbatim

local DOC, HISTORY, NAMES, INDEX = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local REQ = cjson.decode(ARGV[1])
local APPROVALS = not REQ.cluster and KEYS[5]
local TIME = redis.call('TIME')
local NOW = tonumber(TIME[1]) * 1000 + math.floor(tonumber(TIME[2]) / 1000)
local REMEMBERED = 32

local function integer(number) return string.format('%.0f', number) end

local function load()
  local text = redis.call('JSON.GET', DOC, '.ctl')
  return text and cjson.decode(text)
end

-- Whether `more` events find no room in a history of which nothing is dropped.
local function full(more)
  return REQ.most and more > 0 and redis.call('XLEN', HISTORY) + more > REQ.most
end

-- Append an event to the chain that ends with `digest`; its new end.
local function record(digest, text)
  local at = integer(NOW)
  digest = redis.sha1hex(digest .. '\n' .. at .. '\n' .. text)
  if REQ.newest then
    redis.call('XADD', HISTORY, 'MAXLEN', REQ.newest, '*', 'at', at, 'event', text, 'digest', digest)
  else
    redis.call('XADD', HISTORY, '*', 'at', at, 'event', text, 'digest', digest)
  end
  return digest
end

-- Remember what this call led to, and forget the oldest.
local function remember(ctl)
  ctl.said[REQ.call] = ctl.revision
  for call, revision in pairs(ctl.said) do
    if revision <= ctl.revision - REMEMBERED then ctl.said[call] = nil end
  end
end

-- The reply to a write that the server refused.
local function refuse(message)
  if refuses(message) then return { err = message } end
  return { 'bad_document', message }
end

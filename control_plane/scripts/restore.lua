-- Put the documents of an exported run back (at most 500 a call, in order), where there is no run of its
-- id. Until the last call the run is `removing`: nobody touches it, and a sweep removes it when nothing
-- of a restore was heard for a minute. A call counts when all of it is written: one that broke off may be
-- said again, and none after it is taken before.
-- KEYS[4]  cp:wf:done   zset   standalone only
-- ARGV[1]  {run, call, number, last, parts: [[kind, name]]}   call: the same in all calls of one restore;
--          number: of the call, from 1; the first is not the last
-- ARGV[2]  the run's document, as it is in the end
-- ARGV[3…] what each part holds: a JSON document (state, output, audit), a text (blob), or an array of
--          names and values (calls, agents, chain) or of [entry, at, event, digest] (history)
-- Reply    {"ok"} | {"exists"} | {"gone"}: what the calls before wrote is not there, or not all of it
--          | {"bad_document", message}

local run = load_run()
if run and run.restoring ~= REQ.call then
  -- The last call, heard a second time, though somebody went on with the run meanwhile.
  local same = REQ.last and not run.removing and cjson.decode(ARGV[2]).ctl.born == run.born
  return reply(same and 'ok' or 'exists')
end
local heard = run and run.restored or 0
if REQ.number > heard + 1 then return reply('gone') end
if REQ.number <= heard then return reply('ok') end

local function document(key, text) return put(key, '$', text) end
local function hash(key, text) redis.call('HSET', key, unpack(cjson.decode(text))) end
local WRITE = {
  state = function(name, text) return document(state_key(name), text) end,
  output = function(name, text) return document(output_key(name), text) end,
  audit = function(_, text) return document(DATA .. 'audit:finalize', text) end,
  path = function(name) redis.call('SADD', PATHS, name) end,
  calls = function(name, text) hash(calls_key(name), text) end,
  agents = function(_, text) hash(RUN .. 'agents', text) end,
  chain = function(_, text) hash(CHAIN, text) end,
  blob = function(name, text)
    redis.call('SADD', RUN .. 'blobs', name)
    redis.call('SET', DATA .. 'blob:' .. name, text)
  end,
  history = function(_, text)
    local entry, at, event, digest = unpack(cjson.decode(text))
    -- Written by a call that broke off.
    if redis.call('XRANGE', HISTORY, entry, entry)[1] then return end
    redis.call('XADD', HISTORY, entry, 'at', at, 'event', event, 'digest', digest)
  end,
}

if not run then
  local bad = document(META, ARGV[2])
  if bad then return refuse(bad) end
  run = load_run()
  run.removing, run.restoring = true, REQ.call
  redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
end
if not REQ.last then
  if INDEX then redis.call('ZADD', INDEX, NOW + REHINT_MAX, REQ.run) else look_at(NOW + REHINT_MAX) end
end
for i, part in ipairs(REQ.parts) do
  local bad = WRITE[part[1]](part[2], ARGV[i + 2])
  if bad then return refuse(bad) end
end
if not REQ.last then
  run.restored = REQ.number
  redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
  return reply('ok')
end
local bad = document(META, ARGV[2])
if bad then return refuse(bad) end
enlist(load_run())
if INDEX then
  redis.call('ZREM', INDEX, REQ.run)
  redis.call('ZADD', KEYS[4], NOW, REQ.run)
end
return reply('ok')

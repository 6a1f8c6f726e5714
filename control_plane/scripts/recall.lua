-- Which call of this try answers one that is about to be made: one of the same id, or one that was
-- made before the work stopped for an approval.
-- ARGV[1]  {run, path, token, fence, call, digest, id?, known: [number]}
--          call: an id;  digest: of the tool call;  id: the caller's own name of it;
--          known: numbers of calls with this digest whose answers are in the journal
-- Reply    {"ok", number} | {"new"}
--          {"call_open", number}: the call with this id is still being made
--          | {"other_call"}: this id is another call's
--          | {"lease_lost"} | {"lease_expired"} | {"timed_out"} | {"cancelled"} | {"closed"}
--          | {"unknown_state"} | {"unknown_run"}
-- Each answer of the journal is given once under a lease. The same call again gets the first answer.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
local digest = named('d', REQ.digest)
local id = REQ.id and named('i', REQ.id) or named('c', REQ.call)
local same = of_calls(path, ctl, 'lease.ids.' .. id)
if same then
  if same.digest ~= digest then return reply('other_call') end
  local till = of_calls(path, ctl, 'lease.open.n' .. same.number)
  if till and till > NOW then return reply('call_open', same.number) end
  return reply('ok', same.number)
end
local recalled = of_calls(path, ctl, 'lease.recalled.' .. digest) or 0
local number = REQ.known[recalled + 1]
if not number then return reply('new') end
begin_calls(path, ctl)
local key = state_key(path)
redis.call('JSON.MSET', key, '$.ctl', cjson.encode(ctl),
  key, '$.calls.lease.recalled.' .. digest, recalled + 1,
  key, '$.calls.lease.ids.' .. id, cjson.encode({ digest = digest, number = integer(number) }))
return reply('ok', integer(number))

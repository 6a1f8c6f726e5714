-- A tool call of this lease is over: keep what the tool answered.
-- ARGV[1]  {run, path, token, fence, number, keep}   keep: how long (ms)
-- ARGV[2]  JSON text of the answer, or "" when there is none
-- Reply    {"ok"} | {"lease_lost"} | {"lease_expired"} | {"timed_out"} | {"cancelled"} | {"closed"}
--          | {"unknown_state"} | {"unknown_run"}
-- Answers of earlier leases go. Repeating the call changes nothing.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
local number, fence, answers = integer(REQ.number), integer(REQ.fence), calls_key(path)
if ctl.made == ctl.fence then
  redis.call('JSON.DEL', state_key(path), '$.calls.lease.open.n' .. number)
end
if ARGV[2] ~= '' then
  if redis.call('HGET', answers, 'fence') ~= fence then redis.call('DEL', answers) end
  redis.call('HSET', answers, 'fence', fence, number, ARGV[2])
  redis.call('PEXPIRE', answers, REQ.keep)
end
return reply('ok')

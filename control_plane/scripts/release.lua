-- Give a lease back unfinished (a draining worker): ready again, no takeover counted.
-- ARGV[1]  {run, path, token, fence}
-- The same token again gets the same answer.
-- Reply    {"ok"} | {"lease_lost"} | {"lease_expired"} | {"timed_out"} | {"cancelled"} | {"closed"}
--          | {"unknown_state"} | {"unknown_run"}

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local token = redis.sha1hex(REQ.token)
if ctl.released == token then return reply('ok') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
wake(ctl)
ctl.released = token
save(path, ctl)
record_event('LeaseReleased', path, ',"visit":' .. ctl.visit .. ',"fence":' .. integer(ctl.fence))
hint(path)
return reply('ok')

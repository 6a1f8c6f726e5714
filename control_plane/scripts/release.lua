-- Give a lease back unfinished (a draining worker): ready again, no takeover counted.
-- ARGV[1]  {run, path, token, fence}
-- The same token and fence again get the same answer.
-- Reply    {"ok"} | {"lease_lost"} | {"lease_expired"} | {"timed_out"} | {"cancelled"} | {"closed"}
--          | {"unknown_state"} | {"unknown_run"}

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
-- A token may be brought again for a later lease, a fence is never given twice.
local released = redis.sha1hex(REQ.token .. '/' .. integer(REQ.fence))
if ctl.released == released then return reply('ok') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
wake(ctl)
ctl.released = released
save(path, ctl)
record_event('LeaseReleased', path, ',"visit":' .. ctl.visit .. ',"fence":' .. integer(ctl.fence))
hint(path)
return reply('ok')

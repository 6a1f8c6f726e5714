-- Something outside that will answer a state shows that it is alive: HeartbeatSeconds count anew.
-- ARGV[1]  {run, path, visit, try}
-- Reply    {"ok"} | {"already_settled"} | {"expired"} | {"not_waiting", status} | {"cancelled"}
--          | {"closed"} | {"unknown_state"} | {"unknown_run"}

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl)
if why then return reply(why) end
local closed, status = not_open(ctl)
if closed then return reply(closed, status) end
-- While somebody is asked to approve it, the limits of its time do not run.
if ctl.hb_ms and ctl.wait ~= 'approval' then
  ctl.hb_due = NOW + ctl.hb_ms
  save(path, ctl)
end
return reply('ok')

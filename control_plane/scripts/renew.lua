-- Extend a lease.
-- ARGV[1]  {run, path, token, fence, ttl, beat, limits?: {timeout_ms?, hb_ms?}}
--          ttl in ms; beat: the task itself showed progress; limits: those of the work that begins
--          now, instead of those that the state was entered with
-- Reply    {"ok", lease end, now} | {"lease_lost"} | {"lease_expired"} | {"timed_out"}
--          | {"cancelled"} | {"closed"} | {"unknown_state"} | {"unknown_run"}
-- Anything but "ok" means that the authority is gone: the caller stops its work.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
ctl.lease.ts, ctl.lease.ttl, ctl.lease.ends = NOW, REQ.ttl, NOW + REQ.ttl
if REQ.beat and ctl.hb_ms then ctl.hb_due = NOW + ctl.hb_ms end
if REQ.limits then
  ctl.timeout_ms, ctl.hb_ms = REQ.limits.timeout_ms, REQ.limits.hb_ms
  ctl.deadline = ctl.timeout_ms and ctl.begun + ctl.timeout_ms
  ctl.hb_due = ctl.hb_ms and NOW + ctl.hb_ms
end
save(path, ctl)
-- The new limits may be over already.
why = not_holder(ctl)
if why then return reply(why) end
return reply('ok', integer(ctl.lease.ends), integer(NOW))

-- Lease a ready state or frame ticket.
-- ARGV[1]  {run, path, token, owner, ttl, protocols, pool, alone?, group?, hint?}   ttl in ms
--          alone: here, where its holder works on one suspect at a time; watched, in a process for it
--          alone whose end another process tells
-- Reply    {"ok", fence, now, document, what tells this run from others that had its id}
--          {"not_ready", status} | {"lease_held", owner, lease end} | {"cancelled"} | {"closed"}
--          | {"unknown_state"} | {"unknown_run"} | {"unknown_protocol"}
--          | {"wrong_pool", pool} | {"suspect"}: a worker died that held it; leased alone only
-- A state whose deadline passed while nobody held it is leased with the event `timeout`.
-- A decision on what was asked is no event of the work: it is kept as `answered`, and the slot is free
-- for what may happen while the work goes on.
-- The hint that led here is dropped in every case. The same token again gets the same answer
-- while its lease is in force; afterwards it is a token like any other.

if QUEUE and REQ.hint then
  redis.call('XACK', QUEUE, REQ.group, REQ.hint)
  redis.call('XDEL', QUEUE, REQ.hint)
end

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local run = load_run()
if run and run.pool ~= REQ.pool then return reply('wrong_pool', run.pool) end
local resent = ctl.lease and ctl.lease.token == redis.sha1hex(REQ.token) and ctl.lease.ends > NOW
if not resent then
  local why = dead(path, ctl)
  if why then return reply(why) end
  if ctl.status == 'running' then
    return reply('lease_held', ctl.lease.owner, integer(ctl.lease.ends))
  end
  if ctl.status ~= 'ready' then return reply('not_ready', ctl.status) end
  if ctl.deaths and not REQ.alone then return reply('suspect') end
  if not ctl.event and ctl.deadline and ctl.deadline <= NOW then ctl.event = 'timeout' end
  local event = ctl.event
  if event == 'approval' then ctl.event, ctl.answered = nil, true end
  grant(ctl, REQ.token)
  save(path, ctl, '$.times.started', integer(NOW))
  record_event('LeaseAcquired', path, ',"visit":' .. ctl.visit .. ',"try":' .. ctl.try .. ',"fence":'
    .. integer(ctl.fence) .. ',"owner":' .. quote(REQ.owner)
    .. (REQ.alone and ',"alone":' .. quote(REQ.alone) or '')
    .. (event and ',"event":' .. quote(event) or ''))
end
return reply('ok', integer(ctl.fence), integer(NOW), redis.call('JSON.GET', state_key(path)),
  run.digest .. '/' .. run.born .. (run.redrives and '/' .. integer(run.redrives) or ''))

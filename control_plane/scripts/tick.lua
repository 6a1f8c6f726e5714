-- Let time move what is due in one run: lost hints, ended leases, deadlines, timers.
-- ARGV[1]  {run, away_from?, away_to?}   at most 100 paths, in due order; where more are due, the next
--          one is due at once;  away: how long ago (ms) a time began, and ended, in which the caller
--          was refused or not answered
-- Reply    {"ok", next due (ms) or "", now, states moved, status}   status: of the run, "" when there is no
--          such run, "removing" while it is removed
-- What a redrive prepares is left as it is. Standalone, a run that does not exist leaves the index.
-- Nothing is executed here: a state is only put back to ready, with the event that explains why.

local PATHS_A_TICK = 100

-- So many times its limit of deaths may a state's process vanish together with who watches it.
local VANISHED = 10

local function unrenewable(lease)
  local ago = NOW - lease.ends
  return ago <= (REQ.away_from or -1) and ago >= REQ.away_to
end

-- A lease ended without a word. Who holds one in a process that another one watches died together
-- with who would tell, so that nothing is said against the state; unless that happens so often that
-- the state must be what takes the whole machine along, or its limit was reached by deaths that were
-- told late. Nor is anything said where the server took no renewals when the lease ended. Whether the
-- run is to end.
local function lose(ctl)
  ctl.takeovers = ctl.takeovers + 1
  local alone, often = ctl.lease.alone, ctl.takeovers > VANISHED * deaths_limit()
  if unrenewable(ctl.lease) and not often then return end
  if alone == 'watched' and not often and not ctl.overdue then
    ctl.unheard = ctl.lease.token .. '/' .. integer(ctl.fence)
  elseif alone or not ctl.deaths then
    return count_death(ctl)
  end
end

local function expire(path, ctl)
  local before, over = ctl.event, false
  if not ctl.event and ctl.deadline and ctl.deadline <= NOW then
    ctl.event = 'timeout'
  elseif not ctl.event and ctl.hb_due and ctl.hb_due <= NOW then
    ctl.event = 'heartbeat'
  else
    over = lose(ctl)
  end
  record_event(ctl.event ~= before and 'LeaseRevoked' or 'LeaseExpired', path, ',"visit":' .. ctl.visit .. ',"try":'
    .. ctl.try .. ',"fence":' .. integer(ctl.fence) .. ',"owner":' .. quote(ctl.lease.owner)
    .. (ctl.lease.alone and ',"alone":' .. quote(ctl.lease.alone) or '')
    .. ',"event":' .. quote(ctl.event))
  return over
end

local function fire(path, ctl)
  if ctl.deadline and ctl.deadline <= NOW then
    ctl.event = 'timeout'
  elseif ctl.wait == 'callback' then
    ctl.event = 'heartbeat'
  elseif ctl.wait == 'timer' or ctl.wait == 'approval' then
    ctl.event = 'timer'
  end
  record_event('TimerFired', path, ',"visit":' .. ctl.visit .. ',"try":' .. ctl.try .. ',"wait":"'
    .. ctl.wait .. '","event":' .. quote(ctl.event))
end

local moved = 0
local function move(path)
  local ctl = load(path)
  if not ctl or dead(path, ctl) then return redis.call('ZREM', DUE, path) end
  if ctl.status == 'ready' then
    ctl.hint_at = NOW + math.min(math.max(NOW - ctl.ready_at, REHINT_MIN), REHINT_MAX)
    hint(path)
    return save(path, ctl)
  end
  local at = due_at(ctl)
  if not at or at > NOW then return schedule(path, ctl) end
  if ctl.status == 'waiting' then
    fire(path, ctl)
  elseif expire(path, ctl) then
    return end_lost(path)
  end
  wake(ctl)
  hint(path)
  save(path, ctl)
  moved = moved + 1
end

local preparing = (load_run() or {}).preparing
local due = redis.call('ZRANGE', DUE, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, PATHS_A_TICK)
for i = 1, preparing and 0 or #due do
  if due[i] ~= '' then
    move(due[i])
  elseif load_run().status == 'running' then
    -- It did not end just now with one of its states.
    end_run('timed_out', '', '{"error":"States.Timeout","cause":null}')
  end
end

local head = redis.call('ZRANGE', DUE, 0, 0, 'WITHSCORES')
local run = load_run()
enlist(run)
if INDEX and not run then
  redis.call('ZREM', INDEX, REQ.run)
elseif INDEX and run.status == 'running' then
  redis.call('ZADD', INDEX, 'XX', head[2] or NOW + REHINT_MAX, REQ.run)
end
return reply('ok', head[2] or '', integer(NOW), moved,
  run and (run.removing and 'removing' or run.status) or '')

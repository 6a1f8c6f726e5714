-- Give a run that is not over to the workers of another pool.
-- ARGV[1]  {run, pool, turn, by, reason, revoke, paths?: [path]}
--          turn:   from 1; only a greater one than the last moves the run again, so that a move that
--                  comes late changes nothing
--          revoke: leases that are in force end; without it their holders may finish those states
--          paths:  at most 500 states to be moved; without it the first 500 that time can move
-- Reply    {"ok", whether there are more states than these: 1 | 0} | {"late", last turn, its pool}
--          | {"not_running", status} | {"unknown_run"}
-- The same turn again goes on with states that are not moved yet, and else changes nothing: a state
-- knows in which turn it was hinted or leased last.
-- What is ready is hinted in the new pool. A revoked state is ready again in the same try: its calls
-- keep their numbers and keys, its deadline runs on, and whoever held it is refused by the fence. It
-- counts as no takeover, but what was counted stays, so that a move saves no state that kills its
-- workers. A lease that has ended by itself is left to the tick, which counts it.

local MOST = 500
local run = load_run()
if not run then return reply('unknown_run') end
local last = run.turn or 0
if REQ.turn < last or (REQ.turn == last and run.pool ~= REQ.pool) then
  return reply('late', last, run.pool)
end
local over = run.status ~= 'running' and run.status ~= 'pending'
if over and REQ.turn == last then return reply('ok', 0) end
if over then return reply('not_running', run.status) end

if REQ.turn > last then
  local from = run.pool
  run.pool, run.turn = REQ.pool, REQ.turn
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.pool', quote(run.pool))
  record('{"type":"RunMoved","from":' .. quote(from) .. ',"to":' .. quote(run.pool) .. ',"turn":'
    .. integer(run.turn) .. ',"by":' .. quote(REQ.by) .. ',"reason":' .. quote(REQ.reason) .. '}')
end

-- The run's own limit stands among what is due, and has no document.
local function move(path)
  local ctl = load(path)
  if not ctl or ctl.turn == run.turn or dead(path, ctl) then return end
  if ctl.status == 'ready' then
    ctl.hint_at = NOW + REHINT_MIN
  elseif ctl.status == 'running' and REQ.revoke and ctl.lease.ends > NOW then
    record_event('LeaseRevoked', path, ',"visit":' .. ctl.visit .. ',"try":' .. ctl.try .. ',"fence":'
      .. integer(ctl.fence) .. ',"owner":' .. quote(ctl.lease.owner) .. ',"event":'
      .. quote(ctl.event) .. ',"to":' .. quote(run.pool))
    wake(ctl)
  else
    return
  end
  ctl.turn = run.turn
  hint(path)
  save(path, ctl)
end

for _, path in ipairs(REQ.paths or redis.call('ZRANGE', DUE, 0, MOST - 1)) do move(path) end
return reply('ok', not REQ.paths and redis.call('ZCARD', DUE) > MOST and 1 or 0)

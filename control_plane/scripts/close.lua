-- Close open documents of a run that is over (at most 500 paths a call). With `last` the run leaves
-- the index of active runs, if it is also finalized: who says so may mean an end before a redrive.
-- KEYS[4]  cp:wf:done   zset   standalone only: run -> end (ms)
-- ARGV[1]  {run, paths: [path], at?, last}   at: how many paths are closed before these
-- Reply    {"ok", closed} | {"still_running", status} | {"not_finalized"}
--          | {"not_closed", n}: a fail-over lost what was closed after the first n
--          | {"unknown_run"}: or it is being removed, for which it has to stay in the index

local run = load_run()
if not run then
  if INDEX then redis.call('ZREM', INDEX, REQ.run) end
  return reply('unknown_run')
end
if run.removing then return reply('unknown_run') end
if run.status == 'running' or run.status == 'pending' then return reply('still_running', run.status) end
if REQ.last and not run.finalized then return reply('not_finalized') end
if (run.closed or 0) < (REQ.at or 0) then return reply('not_closed', run.closed or 0) end
-- A redrive that was being prepared is off: what it prepared is closed again.
if run.preparing then
  run.preparing, run.prepared = nil, nil
  redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
end
local closed = 0
for i = 1, #REQ.paths do
  local path = REQ.paths[i]
  local ctl = load(path)
  if ctl and OPEN[ctl.status] then
    ctl.status = ctl.status == 'pending' and 'skipped' or 'cancelled'
    ctl.lease, ctl.wait, ctl.wait_until = nil, nil, nil
    if ctl.join then ctl.join.open = false end
    save(path, ctl, '$.times.finished', integer(NOW))
    closed = closed + 1
  end
end
-- After the documents: a script that fails midway has not said that they are closed.
local upto = (REQ.at or 0) + #REQ.paths
if upto > (run.closed or 0) then
  run.closed = upto
  redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
end
if REQ.last then
  redis.call('DEL', DUE)
  -- Whatever moved it here: another version of the software, or in a cluster one that died over it.
  enlist(run)
  if INDEX then
    redis.call('ZADD', KEYS[4], NOW, REQ.run)
    redis.call('ZREM', INDEX, REQ.run)
  end
end
return reply('ok', closed)

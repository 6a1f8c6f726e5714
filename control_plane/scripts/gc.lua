-- Remove the documents of a run that is over (at most 500 names a call); the call after which none is
-- left removes the run itself. From the first call on the run is `removing`: nobody goes on with it,
-- and the sweep looks at it in a minute, to continue a removal that died.
-- KEYS[4]  cp:wf:done   zset   standalone only
-- ARGV[1]  {run, born, mark?, paths: [path], blobs: [sha256], abandoned?, unexported?}
--          born: when the run was made that is meant, "" for what is left of one without a document
--          mark: let the run be `removing` and remove nothing yet, so that what is read then is all
--          abandoned: also a run whose seed never came to its end
--          unexported: also a run that waits for the graph; what it came to is lost
-- Reply    {"ok", removed}: nothing is left | {"more", removed}: the same again, with what is left
--          | {"still_running", status} | {"not_finalized"} | {"not_exported"}

local BLOBS = RUN .. 'blobs'
local run = load_run()
-- It was removed by somebody else meanwhile; what stands there now is of another run.
if REQ.born ~= (run and run.born or '') then return reply('ok', 0) end
if run and not run.removing then
  if run.status == 'running' or (run.status == 'pending' and not REQ.abandoned) then
    return reply('still_running', run.status)
  end
  if not run.finalized and not REQ.abandoned then return reply('not_finalized') end
  if run.outbox and run.outbox ~= 'told' and not REQ.unexported then return reply('not_exported') end
  -- First, since it takes no memory: a server that is out of it lets go on what has written.
  redis.call('DEL', DUE)
  run.removing = true
  if run.status == 'pending' then run.status = 'cancelled' end
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.status', quote(run.status))
  enlist(run)
  look_at(NOW + REHINT_MAX)
elseif run and run.restoring then
  -- Whoever puts it back hears that it is gone.
  run.restoring = nil
  redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
end
if REQ.mark then return reply('more', 0) end
local removed = 0
for i = 1, #REQ.paths do
  removed = removed + redis.call('DEL', state_key(REQ.paths[i]), output_key(REQ.paths[i]),
    calls_key(REQ.paths[i]))
  redis.call('SREM', PATHS, REQ.paths[i])
end
for i = 1, #REQ.blobs do
  removed = removed + redis.call('DEL', DATA .. 'blob:' .. REQ.blobs[i])
  redis.call('SREM', BLOBS, REQ.blobs[i])
end
-- A worker whose lease has ended may have put a blob there after the others were read.
if redis.call('SCARD', PATHS) + redis.call('SCARD', BLOBS) > 0 then return reply('more', removed) end
removed = removed + redis.call('DEL', META, HISTORY, CHAIN, DUE, STAGE, RUN .. 'agents',
  DATA .. 'audit:finalize')
enlist(nil)
if INDEX then
  redis.call('ZREM', INDEX, REQ.run)
  redis.call('ZREM', KEYS[4], REQ.run)
end
return reply('ok', removed)

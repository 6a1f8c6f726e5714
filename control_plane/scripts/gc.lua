-- Remove the documents of a run that is over (at most 500 paths a call); the last call removes the
-- run itself.
-- KEYS[4]  cp:wf:done   zset   standalone only
-- ARGV[1]  {run, paths: [path], abandoned?, unexported?, blobs: [sha256], last}
--          abandoned: also a run whose seed never came to its end
--          unexported: also a run that waits for the graph; what it came to is lost
-- Reply    {"ok", removed} | {"still_running", status} | {"not_finalized"} | {"not_exported"}

local run = load_run()
if run and (run.status == 'running' or (run.status == 'pending' and not REQ.abandoned)) then
  return reply('still_running', run.status)
end
if run and not run.finalized and not REQ.abandoned then return reply('not_finalized') end
if run and run.outbox and run.outbox ~= 'told' and not REQ.unexported then return reply('not_exported') end
-- Nobody goes on with a run that is partly gone.
if run and not REQ.last and not run.removing then
  run.removing = true
  if run.status == 'pending' then run.status = 'cancelled' end
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.status', quote(run.status))
  enlist(run)
end
local removed = 0
for i = 1, #REQ.paths do
  removed = removed + redis.call('DEL', state_key(REQ.paths[i]), output_key(REQ.paths[i]),
    calls_key(REQ.paths[i]))
  redis.call('SREM', PATHS, REQ.paths[i])
end
for i = 1, #REQ.blobs do
  removed = removed + redis.call('DEL', DATA .. 'blob:' .. REQ.blobs[i])
end
if REQ.last then
  removed = removed + redis.call('DEL', META, HISTORY, CHAIN, DUE, PATHS, STAGE, RUN .. 'blobs',
    RUN .. 'agents', DATA .. 'audit:finalize')
  enlist(nil)
  if INDEX then
    redis.call('ZREM', INDEX, REQ.run)
    redis.call('ZREM', KEYS[4], REQ.run)
  end
end
return reply('ok', removed)

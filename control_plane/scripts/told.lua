-- The graph has what this end of a run came to: its documents may be removed from now on. Or nobody
-- can tell it, and it is not tried again by itself.
-- ARGV[1]  {run, born, redrives, as}: which end was written; as: "told" | "refused"
-- Reply    {"ok"} | {"moved"}: it was redriven, or is another run | {"unknown_run"}

local run = load_run()
if not run then return reply('unknown_run') end
if not run.finalized or run.born ~= REQ.born or (run.redrives or 0) ~= REQ.redrives then
  return reply('moved')
end
run.outbox = REQ.as
redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
return reply('ok')

-- Store a large value by its digest, to be removed with the run; nowhere when the run is gone, or going:
-- what refers to it is refused then, so that nobody would ever remove it.
-- ARGV[1]  {run, blob: sha256, new?}   new: for a run that is about to be submitted
-- ARGV[2]  the value, as JSON text
-- Reply    {"ok"} | {"unknown_run"}

local run = load_run()
if run and run.removing or not (run or REQ.new) then return reply('unknown_run') end
redis.call('SADD', RUN .. 'blobs', REQ.blob)
redis.call('SET', DATA .. 'blob:' .. REQ.blob, ARGV[2])
return reply('ok')

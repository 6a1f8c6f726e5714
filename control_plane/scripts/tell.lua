-- Put something into the outbox: a run (in a cluster, where the script that finalizes it cannot
-- reach the outbox, and after a sweep), or a record.
-- KEYS[1]  cp:{outbox}:runs | cp:{outbox}:records   stream
-- KEYS[2]  cp:{outbox}:counts                       hash
-- ARGV[1]  {kind, id, limit}   limit: how many may wait in the stream
-- ARGV[2]  data of a record, a JSON text
-- Reply    {"ok"} | {"full", limit}: of records no more than the limit may wait

if REQ.kind == 'run' then
  tell_run(KEYS[1], KEYS[2], REQ.id, REQ.limit)
  return { 'ok' }
end
if redis.call('XLEN', KEYS[1]) >= REQ.limit then return { 'full', REQ.limit } end
redis.call('XADD', KEYS[1], '*', 'kind', REQ.kind, 'id', REQ.id, 'data', ARGV[2])
return { 'ok' }

-- Put something into the outbox: a run (in a cluster, where the script that finalizes it cannot
-- reach the outbox, and after a sweep), or a record.
-- KEYS[1]  cp:{outbox}:runs | cp:{outbox}:records   stream
-- KEYS[2]  cp:{outbox}:counts                       hash
-- ARGV[1]  {kind, id}
-- ARGV[2]  data of a record, a JSON text
-- Reply    {"ok"} | {"full", limit}: of records no more than the limit may wait

if REQ.kind == 'run' then
  tell_run(KEYS[1], KEYS[2], REQ.id)
  return { 'ok' }
end
if redis.call('XLEN', KEYS[1]) >= OUTBOX_LIMIT then return { 'full', OUTBOX_LIMIT } end
redis.call('XADD', KEYS[1], '*', 'kind', REQ.kind, 'id', REQ.id, 'data', ARGV[2])
return { 'ok' }

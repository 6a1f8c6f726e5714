-- Seal a run that is over: the audit record, and in the meta document when and at what cost. With
-- `outbox` the run waits for the graph from then on; it is not removed before it is there.
-- KEYS[4]  cp:{outbox}:runs     stream   standalone only, with outbox
-- KEYS[5]  cp:{outbox}:counts   hash     standalone only, with outbox
-- ARGV[1]  {run, digest, by, call, paths?, outbox?}
--          digest: the end of the history that the audit record covers
--          paths:  how many documents it counts, each of which is closed
--          call:   an id; the same again gets the first answer
--          outbox: how many may wait there
-- ARGV[2]  audit record        ARGV[3]  cost summary
-- Reply    {"ok"} | {"already_finalized"} | {"still_running", status} | {"history_moved"}
--          | {"not_closed", n}: a fail-over lost what was closed after the first n
--          | {"bad_document", message} | {"unknown_run"}

local run = load_run()
if not run then return reply('unknown_run') end
if run.status == 'running' or run.status == 'pending' then return reply('still_running', run.status) end
if run.said.finalize == REQ.call then return reply('ok') end
if run.finalized then return reply('already_finalized') end
if load_chain().digest ~= REQ.digest then return reply('history_moved') end
if (run.closed or 0) < (REQ.paths or 0) then return reply('not_closed', run.closed or 0) end
local audit = DATA .. 'audit:finalize'
-- Both or, when the server refuses one, none.
local bad = redis.pcall('JSON.MSET', audit, '$', ARGV[2], META, '$.cost_summary', ARGV[3]).err
if bad then return refuse(bad) end
run.finalized, run.said.finalize = true, REQ.call
run.outbox = REQ.outbox and 'waiting' or nil
redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.finalized_at', integer(NOW),
  audit, '$.finalized_at', integer(NOW))
if REQ.outbox and INDEX then tell_run(KEYS[4], KEYS[5], REQ.run, REQ.outbox) end
record('{"type":"RunFinalized","by":' .. quote(REQ.by) .. '}')
return reply('ok')

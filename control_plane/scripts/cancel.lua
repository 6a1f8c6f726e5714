-- Cancel a run. From here on nothing under it is alive; open documents are closed afterwards.
-- ARGV[1]  {run, by, reason, call}   call: an id; the same again gets the first answer
-- ARGV[2]  error {error, cause}
-- Reply    {"ok"} | {"not_running", status} | {"unknown_run"} | {"bad_document", message}

local run = load_run()
if not run then return reply('unknown_run') end
if run.said.cancel == REQ.call then return reply('ok') end
if run.status ~= 'running' and run.status ~= 'pending' then return reply('not_running', run.status) end
check_books()
local bad = put(META, '$.error', ARGV[2])
if bad then return refuse(bad) end
record('{"type":"RunCancelled","by":' .. quote(REQ.by) .. ',"reason":' .. quote(REQ.reason) .. '}')
end_run('cancelled', '', ARGV[2], 'cancel')
return reply('ok')

-- Something outside answers a state: a callback or an approval. First writer wins.
-- ARGV[1]  {run, path, visit, try, event, call}    event: callback | approval; call: an id
-- ARGV[2]  payload
-- Reply    {"ok"} | {"already_settled"} | {"expired"} | {"not_waiting", status}
--          | {"bad_document", message} | {"cancelled"} | {"closed"} | {"unknown_state"}
--          | {"unknown_run"}
-- Only a state that was entered as one that takes callbacks may be answered before it waits for one.
-- The same call again gets the first answer.
-- An answer that comes before the worker's wait-commit is kept; that commit then goes to ready.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local told = load_visit(path, ctl, REQ.visit)
if told and told.signal == REQ.call then return reply('ok') end
local why = dead(path, ctl)
if why then return reply(why) end
local closed, status = not_open(ctl)
if closed then return reply(closed, status) end

local bad = put(state_key(path), '$.event', ARGV[2])
if bad then return refuse(bad) end
ctl.event, ctl.signal = REQ.event, REQ.call
if ctl.status == 'waiting' then
  wake(ctl)
  hint(path)
end
save(path, ctl)
record_event('Signalled', path, ',"visit":' .. ctl.visit .. ',"try":' .. ctl.try .. ',"event":"'
  .. REQ.event .. '"')
return reply('ok')

-- Something outside answers a state: a callback or an approval. First writer wins.
-- ARGV[1]  {run, path, visit, try, event, call, ask?, blobs?}   event: callback | approval; call: an id;
--          ask: of an approval, the number of the question that is answered; blobs: [sha256], those that
--          the payload refers to
-- ARGV[2]  payload     ARGV[3]  history event in place of Signalled, "" or absent
-- Reply    {"ok"} | {"already_settled"} | {"expired"} | {"not_waiting", status}
--          | {"bad_document", message} | {"missing_blob", sha256} | {"cancelled"} | {"closed"} | {"unknown_state"}
--          | {"unknown_run"}
-- Only a state that was entered as one that takes callbacks may be answered before it waits for one.
-- The same call again gets the first answer.
-- An answer to a state that is held ends the lease: its work is not needed any more, and whatever its
-- holder still writes is refused. So the state goes on at once, however long that work would hang.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local told = load_visit(path, ctl, REQ.visit)
if told and told.signal == REQ.call then return reply('ok') end
local why = dead(path, ctl)
if why then return reply(why) end
local closed, status = (REQ.event == 'approval' and not_asked or not_open)(ctl)
if closed then return reply(closed, status) end
local absent = missing_blob()
if absent then return reply('missing_blob', absent) end

local bad = put(state_key(path), '$.event', ARGV[2])
if bad then return refuse(bad) end
local holder = ctl.lease
-- Who takes the answer up is not to blame for those that died over the work.
ctl.event, ctl.signal = REQ.event, REQ.call
forgive(ctl)
wake(ctl)
save(path, ctl)
local which = ',"visit":' .. ctl.visit .. ',"try":' .. ctl.try
if ARGV[3] and ARGV[3] ~= '' then
  record(ARGV[3])
else
  record_event('Signalled', path, which .. ',"event":"' .. REQ.event .. '"')
end
if holder then
  record_event('LeaseRevoked', path, which .. ',"fence":' .. integer(ctl.fence) .. ',"owner":'
    .. quote(holder.owner) .. ',"event":"' .. REQ.event .. '"')
end
hint(path)
return reply('ok')

-- Give a lease back unfinished (a draining worker): ready again, no takeover counted. Or tell that the
-- process died that worked under it, and on nothing else: that death is counted.
-- ARGV[1]  {run, path, token, fence, died?}   died: how, for people
-- The same token and fence again get the same answer.
-- Reply    {"ok"} | {"lease_lost"} | {"lease_expired"} | {"timed_out"} | {"cancelled"} | {"closed"}
--          | {"unknown_state"} | {"unknown_run"}

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
-- A token may be brought again for a later lease, a fence is never given twice.
local released = redis.sha1hex(REQ.token .. '/' .. integer(REQ.fence))
if ctl.released == released then return reply('ok') end
local unheard = redis.sha1hex(REQ.token) .. '/' .. integer(REQ.fence)
-- What is finished is over for good: whoever did it showed that it kills nobody.
local late = REQ.died and OPEN[ctl.status] and ctl.unheard == unheard
local why = dead(path, ctl) or not late and not_holder(ctl)
if why then return reply(why) end
local which = ',"visit":' .. ctl.visit .. ',"fence":' .. integer(REQ.fence)
-- Whoever holds the state by now is left alone: this one goes no further than the limit, and the next
-- lease that ends without a word, or the next death, makes the event.
local taken = ctl.status ~= 'ready' and late
local over = false
if taken then
  ctl.deaths = math.min((ctl.deaths or 0) + 1, deaths_limit())
  ctl.overdue = ctl.deaths == deaths_limit() and not ctl.event or nil
elseif REQ.died then
  over = count_death(ctl)
else
  -- Nobody died. But what is in work whenever its worker is told to end may be what tells it: it is
  -- worked on alone from now on, where it ends nobody else.
  ctl.returned = (ctl.returned or 0) + 1
  if ctl.returned >= deaths_limit() then ctl.deaths = ctl.deaths or 0 end
end
if not late then wake(ctl) end
ctl.released, ctl.unheard, ctl.how = released, nil, REQ.died or ctl.how
save(path, ctl)
if REQ.died then
  record_event('WorkerDied', path, which .. ',"try":' .. ctl.try .. ',"how":' .. quote(REQ.died)
    .. ',"event":' .. quote(ctl.event))
else
  record_event('LeaseReleased', path, which)
end
if over then
  end_lost(path)
elseif not taken then
  hint(path)
end
return reply('ok')

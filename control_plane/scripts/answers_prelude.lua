-- Who may answer a state from outside: each question counts once, and only while it is open.

-- Why nothing outside may speak to this visit and try any more, or nil: only a state that was
-- entered as one that takes callbacks does, once it was leased: while it is running, is to be taken
-- over, waits for one, or for somebody to approve what it is about to do.
local function not_open(ctl)
  if ctl.visit ~= REQ.visit or ctl.try ~= REQ.try then return 'already_settled' end
  if ctl.event == 'timeout' or ctl.event == 'heartbeat' then return 'expired' end
  if ctl.event then return 'already_settled' end
  local waiting = ctl.status == 'waiting' and ctl.wait == 'callback'
  local working = ctl.status == 'running' or (ctl.status == 'ready' and ctl.attempts > 0)
    or (ctl.status == 'waiting' and ctl.wait == 'approval')
  if not waiting and not (working and ctl.callback) then
    return 'not_waiting', ctl.status
  end
  if ctl.deadline and ctl.deadline <= NOW then return 'expired' end
  -- Nobody could show a sign of life while nobody held it: heartbeats count anew from the next lease.
  if ctl.status ~= 'ready' and ctl.hb_due and ctl.hb_due <= NOW then return 'expired' end
end

-- Why nobody may decide the question with this number any more, or nil: each is decided once, while
-- it is asked and the time of whoever is asked has not passed.
local function not_asked(ctl)
  if ctl.visit ~= REQ.visit or ctl.try ~= REQ.try or ctl.ask ~= REQ.ask then
    return 'already_settled'
  end
  if ctl.event == 'timer' then return 'expired' end
  if ctl.event or ctl.answered then return 'already_settled' end
  if ctl.status ~= 'waiting' or ctl.wait ~= 'approval' then return 'not_waiting', ctl.status end
  if ctl.wait_until and ctl.wait_until <= NOW then return 'expired' end
end

-- Put a decision on a tool call into the history, under the lease of the work that wants to make it;
-- one that allows the call also gives it its number and takes it from the budgets, before it is made.
-- ARGV[1]  {run, path, token, fence, call, digest?, id?, grant?, known?: [number], open?, asks?,
--           events_limit, calls_limit, budget: {try?, run?}}
--          call: an id;  digest: of the tool call, when it is to be made;  id: the caller's own name
--          of it;  grant: the question whose answer allows it;  known: numbers of calls with this
--          digest that are answered from the journal;  open: how long it may take (ms);
--          asks: a question is about to be put, for as long (ms) no call begins;
--          each budget: {tool_calls?, wall_ms?}
-- ARGV[2]  history event of the decision; the number of the call is added to it
-- ARGV[3]  history event of the refusal when a budget is used up; rule, budget, used and limit are
--          added to it
-- Reply    {"ok", calls of the run, calls of the try, number or ""}
--          {"over_budget", "try" | "run", "tool_calls" | "wall_time_s", used, limit}: the refusal is
--          on record then; times in seconds
--          {"grant_used", number it was used for} | {"other_call"} | {"calls_open", how many}
--          | {"call_open", number}: this very id is being called, or was answered by now
--          | {"limit_exceeded", "events" | "calls"}
--          | {"lease_lost"} | {"lease_expired"} | {"timed_out"}
--          | {"cancelled"} | {"closed"} | {"unknown_state"} | {"unknown_run"}
-- Numbers, from 0, are of the try. The k-th call with one digest under a lease gets the k-th number
-- that this digest was given before in the try, and costs nothing: it is made again, under its key.
-- Any other gets a fresh number and is charged. The same id again is the same call. An answer to a
-- question allows one number; whoever takes over may use it again for that number alone.
-- The same call again gets the first answer; one that is not to be made, until the next is noted.
-- A try's time is that of its work, without the waiting for approvals; a run's counts from its start
-- or its last redrive.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
local noted = ctl.noted
if noted and noted.call == REQ.call then
  if noted.what then
    return reply('over_budget', noted.whose, noted.what, noted.used, noted.limit)
  end
  return reply('ok', noted.run, noted.try, noted.number or '')
end
local digest = REQ.digest and named('d', REQ.digest)
local id = digest and (REQ.id and named('i', REQ.id) or named('c', REQ.call))
local same = id and of_calls(path, ctl, 'lease.ids.' .. id)
if same and same.call == REQ.call then return reply('ok', same.run, same.try, same.number) end
if same and same.digest ~= digest then return reply('other_call') end
if same then
  -- Somebody else makes it, or has made it: whoever asks again then is answered.
  local till = of_calls(path, ctl, 'lease.open.n' .. same.number)
  local answers = calls_key(path)
  local answered = redis.call('HGET', answers, 'fence') == integer(REQ.fence)
    and redis.call('HEXISTS', answers, same.number) == 1
  if answered or (till and till > NOW) then return reply('call_open', same.number) end
end
if load_chain().events >= REQ.events_limit then return reply('limit_exceeded', 'events') end

-- The journal of a question has to be whole: no call is open then, and none begins.
if REQ.asks then
  local open = 0
  for _, till in pairs(of_calls(path, ctl, 'lease.open') or {}) do
    if till > NOW then open = open + 1 end
  end
  if open > 0 then return reply('calls_open', open) end
elseif digest and (of_calls(path, ctl, 'lease.asking') or 0) > NOW then
  return reply('calls_open', 0)
end

-- Which number the call has.
local numbers, seen, number, fresh, more
if digest then
  numbers = of_calls(path, ctl, 'numbers.' .. digest) or {}
  seen = of_calls(path, ctl, 'lease.seen.' .. digest) or 0
  if same then
    number = tonumber(same.number)
  else
    local known, before = {}, seen
    for _, one in ipairs(REQ.known or {}) do known[one] = true end
    for _, one in ipairs(numbers) do
      if not known[one] then
        if before == 0 then number = one break end
        before = before - 1
      end
    end
  end
  fresh = not number
  number = number or ctl.calls or 0
  if fresh and number >= REQ.calls_limit then return reply('limit_exceeded', 'calls') end
  more = fresh and 1 or 0
end

-- Whether it may be made under the answer that it rests on.
local use
if REQ.grant then
  local used, covered = of_calls(path, ctl, 'used') or {}, false
  for _, one in pairs(used) do covered = covered or one == number end
  if not covered then
    use = 'q' .. integer(REQ.grant)
    if used[use] then return reply('grant_used', integer(used[use])) end
  end
end

local run_calls = tonumber(redis.call('HGET', CHAIN, 'tool_calls') or 0)
local try_calls = ctl.calls or 0

-- What of a budget this call would break, how much is used, and the limit; nothing if it fits.
local function broken(limits, calls, worked)
  if not limits then return end
  if limits.tool_calls and more > 0 and calls + more > limits.tool_calls then
    return 'tool_calls', integer(calls), integer(limits.tool_calls)
  end
  if limits.wall_ms and worked() >= limits.wall_ms then
    return 'wall_time_s', seconds(worked()), seconds(limits.wall_ms)
  end
end

local whose, what, used, limit
if digest then
  whose = 'try'
  what, used, limit = broken(REQ.budget.try, try_calls, function() return worked_in_try(ctl) end)
  if not what then
    whose = 'run'
    what, used, limit = broken(REQ.budget.run, run_calls, passed_in_run)
  end
end

local key = state_key(path)
local writes = {}
local function keep(place, text)
  local n = #writes
  writes[n + 1], writes[n + 2], writes[n + 3] = key, '$.calls.' .. place, text
end
if what then
  record(string.sub(ARGV[3], 1, -2) .. ',"rule":"budget.' .. what .. '","budget":"' .. whose
    .. '","used":' .. used .. ',"limit":' .. limit .. '}')
  ctl.noted = { call = REQ.call, whose = whose, what = what, used = used, limit = limit }
else
  local text = number and integer(number)
  record(number and string.sub(ARGV[2], 1, -2) .. ',"call":' .. text .. '}' or ARGV[2])
  if digest or REQ.asks then begin_calls(path, ctl) end
  if REQ.asks then keep('lease.asking', integer(NOW + REQ.asks)) end
  if fresh then
    numbers[#numbers + 1] = number
    keep('numbers.' .. digest, cjson.encode(numbers))
    try_calls, run_calls = try_calls + 1, run_calls + 1
    ctl.calls = try_calls
    redis.call('HSET', CHAIN, 'tool_calls', run_calls)
  end
  ctl.noted = { call = REQ.call, run = integer(run_calls), try = integer(try_calls), number = text }
  if digest then
    if not same then keep('lease.seen.' .. digest, seen + 1) end
    keep('lease.ids.' .. id, cjson.encode({ digest = digest, number = text, call = REQ.call,
      run = ctl.noted.run, try = ctl.noted.try }))
    if use then keep('used.' .. use, text) end
    if REQ.open then keep('lease.open.n' .. text, integer(NOW + REQ.open)) end
  end
end
redis.call('JSON.MSET', key, '$.ctl', cjson.encode(ctl), unpack(writes))
if what then return reply('over_budget', whose, what, used, limit) end
return reply('ok', integer(run_calls), integer(try_calls), number and integer(number) or '')

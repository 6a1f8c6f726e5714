-- Finish one step of a leased state: its output, its new status, what follows, the join it counts
-- in, history, timers and hints, all or nothing.
-- ARGV[1]  {run, path, visit, token, fence, commit_id, outcome, owner, ttl, next_token?, steps_limit,
--           events_limit,
--           ends?     "done" | "failed": the frame (or the run) ends with this state
--           next?     {path, type, timeout_ms?, hb_ms?, callback?}: the sibling to enter
--           wait?     "timer" | "retry" | "callback" | "join" | "approval"; with wait_until (ms) or
--                     delay (ms)
--           retries?  {retrier: used attempts}
--           join?     {n, window, fail_limit}
--           blobs?    [sha256] that must be there}
--          outcome: done | failed | wait | open (a frame ticket enters its first state)
-- ARGV[2]  output document, or ""          ARGV[3]  input of the state entered, or ""
-- ARGV[4]  history event                   ARGV[5]  error {error, cause}, or ""
-- ARGV[6]  execution metrics, or ""        ARGV[7]  fan-out record of a join, or ""
-- ARGV[8]  what the work was given, where that is not the input itself, or ""
-- ARGV[9]  variables of the state entered, or ""
-- ARGV[10] what is asked to be approved, or ""   ARGV[11] model selection, or ""
--          From ARGV[5] on, what is "" may be absent.
-- Reply    {"ok", path leased in place or "", its fence, its visit, run status when it ended
--           or "", now}
--          {"bad_document", message} | {"missing_blob", sha256} | {"limit_exceeded", what} | {"lease_lost"}
--          | {"lease_expired"} | {"timed_out"} | {"cancelled"} | {"closed"} | {"unknown_state"}
--          | {"unknown_run"}
-- With next_token, the one state that becomes ready by this commit (the sibling, else the first new
-- frame ticket, else the parent whose join is over) is leased to the caller at once, unless the run was
-- moved to another pool since the caller's lease.
-- The same commit_id again gets the first answer.

-- 1. Was it said before? A state that re-entered itself keeps the answer with its earlier visit.
local path = REQ.path
local ctl = load(path)
local said = load_visit(path, ctl, REQ.visit)
if said and said.commit_id == REQ.commit_id then
  local first = said.result
  return reply('ok', first.path, first.fence, first.visit, first.run, first.at)
end

-- 2. May it be said?
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
local absent = missing_blob()
if absent then return reply('missing_blob', absent) end
local so_far = load_chain()
if REQ.next or REQ.wait then
  if so_far.steps >= REQ.steps_limit then return reply('limit_exceeded', 'steps') end
  if so_far.events >= REQ.events_limit then return reply('limit_exceeded', 'events') end
end

-- 3. Decide. `leased` is what the caller goes on with; `woken` are hinted once nothing can fail.
local held_in = ctl.turn
local leased, woken = { path = '', fence = '', visit = 0, run = '', at = integer(NOW) }, {}
local function offer(target, target_ctl)
  -- Who holds a state of a run that was moved to another pool goes on with nothing else of it; and a
  -- suspect is leased to whoever works on it alone.
  if REQ.next_token and leased.path == '' and held_in == turn and not target_ctl.deaths then
    grant(target_ctl, REQ.next_token)
    leased.path, leased.fence, leased.visit = target, integer(target_ctl.fence), target_ctl.visit
  else
    woken[#woken + 1] = target
  end
end

local entered, before
if REQ.next then
  before = REQ.next.path == path and ctl or load(REQ.next.path)
  if before and before.visit == 0 then before = nil end
  entered = fresh('state', ctl.pv, REQ.next, before)
  offer(REQ.next.path, entered)
end

-- 4. Write the client's JSON; take it back when the server refuses any of it.
local bad
if ARGV[2] ~= '' then bad = put(output_key(path), '$', ARGV[2]) end
if not bad and entered then
  bad = put(STAGE, '$', document(REQ.next.path, entered, REQ.next.type, ARGV[3], ARGV[9]))
end
local extras = { ['$.error'] = ARGV[5], ['$.execution_metrics'] = ARGV[6], ['$.fan'] = ARGV[7],
  ['$.effective_input'] = ARGV[8], ['$.approval'] = ARGV[10], ['$.model_selection'] = ARGV[11] }
local patch = {}
for at, text in pairs(extras) do
  if text ~= '' then
    bad = bad or put(STAGE .. ':check', '$', text)
    patch[#patch + 1] = at
    patch[#patch + 1] = text
  end
end
if patch[1] then redis.call('DEL', STAGE .. ':check') end
if bad then
  -- No other output is lost: only the end of a visit writes one, and who enters anew sets it aside.
  redis.call('DEL', STAGE, output_key(path))
  return refuse(bad)
end

-- The same try goes on once it is decided: its calls keep their numbers and keys. The limits of the
-- work do not run while somebody thinks. Workers that know nothing of approvals are kept away.
local function ask_approval()
  ctl.worked = (ctl.worked or 0) + NOW - ctl.begun
  forget_limits(ctl)
  forgive(ctl)
  ctl.answered, ctl.asked_at, ctl.ask = nil, NOW, (ctl.ask or 0) + 1
  local run = load_run()
  if run.protocol < APPROVAL_PROTOCOL then
    run.protocol = APPROVAL_PROTOCOL
    redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
  end
end

-- 5. From here on nothing can fail: this state …
chain = so_far
chain.steps = chain.steps + 1
record(ARGV[4])
ctl.lease, ctl.event = nil, nil
if REQ.outcome == 'wait' then
  ctl.status, ctl.wait = 'waiting', REQ.wait
  ctl.wait_until = REQ.wait_until or (REQ.delay and NOW + REQ.delay) or nil
  if REQ.wait == 'retry' then
    ctl.try, ctl.retries = ctl.try + 1, REQ.retries
    forgive(ctl)
    forget_try(ctl)
  elseif REQ.wait == 'join' then
    -- Like a fence it also grows across a document that was lost and made anew.
    ctl.rounds = math.max(ctl.rounds + 1, NOW)
    ctl.join = { open = true, n = REQ.join.n, window = REQ.join.window, visit = ctl.rounds,
      fail_limit = REQ.join.fail_limit, spawned = 0, finished = 0, failed = 0 }
    forget_limits(ctl)
  elseif REQ.wait == 'approval' then
    ask_approval()
  end
elseif REQ.outcome == 'open' then
  ctl.status, ctl.wait = 'waiting', 'frame'
else
  ctl.status = REQ.outcome
  patch[#patch + 1] = '$.times.finished'
  patch[#patch + 1] = integer(NOW)
end

-- … the frame tickets it opens or makes room for (no input: who leases one evaluates its item) …
local function spawn(owner_path, owner)
  local join = owner.join
  while join.spawned < join.n and join.spawned - join.finished < join.window do
    local target = owner_path .. '[' .. integer(join.spawned) .. ']'
    local old = load(target)
    if old then set_aside(target, old) end
    local ticket = fresh('frame', join.visit, {}, old)
    join.spawned = join.spawned + 1
    offer(target, ticket)
    redis.call('JSON.SET', state_key(target), '$', document(target, ticket, 'Frame', 'null'))
    redis.call('SADD', PATHS, target)
    schedule(target, ticket)
  end
end
if REQ.join then spawn(path, ctl) end

-- … the frame it ends, with the join above, or the run …
local failure = ARGV[5] ~= '' and ARGV[5] or 'null'
local frame_path = REQ.ends and (ctl.kind == 'frame' and path or enclosing(path))
if frame_path then
  if frame_path ~= path then
    local frame = load(frame_path)
    frame.status, frame.wait = REQ.ends, nil
    save(frame_path, frame, '$.times.finished', integer(NOW), '$.exit', quote(path), '$.error', failure)
  end
  local parent_path = parent_of(frame_path, 'frame')
  local parent = load(parent_path)
  local join, over = parent.join, nil
  join.finished = join.finished + 1
  if REQ.ends == 'failed' then join.failed = join.failed + 1 end
  if join.failed > join.fail_limit then
    over = 'child_failed'
  elseif join.finished == join.n then
    over = 'joined'
  end
  if over then
    join.open = false
    wake(parent)
    parent.event = over
    offer(parent_path, parent)
    record_event(over == 'joined' and 'Joined' or 'ChildFailed', parent_path, ',"by":' .. quote(frame_path))
    save(parent_path, parent, '$.event', over == 'child_failed' and failure or 'null')
  else
    spawn(parent_path, parent)
    save(parent_path, parent)
  end
elseif REQ.ends then
  leased.run = REQ.ends == 'done' and 'succeeded' or 'failed'
  end_run(leased.run, path, failure)
end

-- … and the answer, kept with the state for a client that did not hear it.
ctl.commit_id, ctl.result = REQ.commit_id, leased
save(path, ctl, unpack(patch))
if entered then
  if before then set_aside(REQ.next.path, before) end
  redis.call('RENAME', STAGE, state_key(REQ.next.path))
  redis.call('SADD', PATHS, REQ.next.path)
  schedule(REQ.next.path, entered)
end
for _, target in ipairs(woken) do hint(target) end
return reply('ok', leased.path, leased.fence, leased.visit, leased.run, leased.at)

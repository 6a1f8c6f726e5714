-- Start a failed run again from what failed. While it is prepared (at most 500 paths a call) the run
-- is still over, so nothing moves; the last call lets it run.
-- KEYS[4]  cp:wf:done   zset   standalone only
-- ARGV[1]  {run, call, first, batch?, last, ended?, timeout_ms?, by?, again: [path],
--           resume: [path], unseal: [path]}
--          batch:  how many calls of this redrive were before
--          ended:  when the run ended (ms) that this plan was made for
--          again:  states to run once more, as a new visit with the same input and a new try
--          resume: joins and frames above them, opened once more with what already finished
--          unseal: states that were never entered, skipped when the run ended: pending again
-- Reply    {"ok"} | {"not_failed", status} | {"interrupted"} | {"unknown_run"}
-- All calls of one redrive have the same `call`; a close, another end, or a fail-over that loses one
-- of them interrupts it. The last one again gets the first answer.

local run = load_run()
if not run then return reply('unknown_run') end
if run.said.redrive == REQ.call then return reply('ok') end
if run.removing then return reply('not_failed', 'removing') end
if run.status ~= 'failed' and run.status ~= 'timed_out' and run.status ~= 'cancelled' then
  return reply('not_failed', run.status)
end
if REQ.ended and tonumber(redis.call('JSON.GET', META, '.finished_at')) ~= REQ.ended then
  return reply('interrupted')
end

local batch = REQ.batch or 0
if REQ.first then
  run.closed = nil
  if not REQ.last then run.preparing = REQ.call end
elseif run.preparing ~= REQ.call or run.prepared < batch then
  return reply('interrupted')
end
quiet = true
check_books()

-- What is to be written, as {path, ctl, earlier?}: all is read before the first of it is, so that a
-- document that somebody damaged ends the script while nothing has changed.
local changes = {}

-- A new visit that starts from a copy of the finished one, which is set aside.
local function revisit(path, change)
  local ctl = load(path)
  if not ctl or OPEN[ctl.status] or ctl.status == 'done' then return end
  local earlier = path .. '@' .. integer(ctl.visit)
  ctl.visit, ctl.try, ctl.attempts = ctl.visit + 1, ctl.try + 1, 0
  forgive(ctl)
  ctl.event, ctl.retries, ctl.commit_id, ctl.result = nil, nil, nil, nil
  forget_try(ctl)
  change(ctl)
  changes[#changes + 1] = { path, ctl, earlier }
end

-- Ready, and due for its hint as soon as the run runs again.
local function at_once(ctl)
  wake(ctl)
  ctl.hint_at = NOW
end

for i = 1, #REQ.resume do
  revisit(REQ.resume[i], function(ctl)
    local join = ctl.join
    ctl.status, ctl.wait = 'waiting', join and 'join' or 'frame'
    if not join then return end
    join.finished, join.failed = join.finished - join.failed, 0
    join.open = join.finished < join.n
    -- It failed after its children were done: only its own part is left.
    if not join.open then
      at_once(ctl)
      ctl.event = 'joined'
    end
  end)
end
for i = 1, #REQ.again do revisit(REQ.again[i], at_once) end
for i = 1, #REQ.unseal do
  local ctl = load(REQ.unseal[i])
  if ctl and ctl.status == 'skipped' then
    ctl.status = 'pending'
    changes[#changes + 1] = { REQ.unseal[i], ctl }
  end
end

for _, change in ipairs(changes) do
  local path, ctl, earlier = unpack(change)
  if earlier then
    redis.call('COPY', state_key(path), state_key(earlier), 'REPLACE')
    if redis.call('EXISTS', output_key(path)) == 1 then
      redis.call('RENAME', output_key(path), output_key(earlier))
    end
    redis.call('SADD', PATHS, earlier)
    save(path, ctl, '$.visit', ctl.visit, '$.error', 'null', '$.event', 'null', '$.execution_metrics',
      'null', '$.times', '{"entered":' .. integer(NOW) .. ',"started":null,"finished":null}')
  else
    save(path, ctl, '$.times.finished', 'null')
  end
end

if not REQ.last then
  run.prepared = batch + 1
  redis.call('JSON.SET', META, '$.ctl', cjson.encode(run))
else
  run.preparing, run.prepared = nil, nil
  run.status, run.finalized, run.said.redrive = 'running', nil, REQ.call
  run.redrives = (run.redrives or 0) + 1
  -- Its next end is told anew.
  run.outbox = nil
  -- What the run may use counts anew, as its time limit does: somebody wants it to go on.
  run.since = NOW
  redis.call('HDEL', CHAIN, 'tool_calls', 'model_calls', 'model_tokens', 'model_nano', 'model_unpriced')
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.status', '"running"',
    META, '$.error', 'null', META, '$.exit', 'null', META, '$.finished_at', 'null',
    META, '$.finalized_at', 'null')
  enlist(run)
  record('{"type":"RunRedriven"' .. (REQ.by and ',"by":' .. quote(REQ.by) or '') .. '}')
  if REQ.timeout_ms then redis.call('ZADD', DUE, NOW + REQ.timeout_ms, '') end
  if INDEX then
    redis.call('ZREM', KEYS[4], REQ.run)
    redis.call('ZADD', INDEX, NOW, REQ.run)
  end
end
return reply('ok')
